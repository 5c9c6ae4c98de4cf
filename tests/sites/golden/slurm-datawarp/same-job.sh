#!/bin/bash
#DW jobdw type=scratch access_mode=striped capacity=600GiB
#SBATCH --job-name=chapala-1-0a1b2c3d-host-1
#SBATCH --comment=chapala-1
#SBATCH --nodes=40
#SBATCH --ntasks-per-node=32
#SBATCH --time=120
#SBATCH --output=RUNS/chapala-1/steps/host-1/host.log
#SBATCH --open-mode=append
#SBATCH --no-requeue
#SBATCH --signal=B:TERM@60
exec VENV/bin/python -P BURSTLENS/host.py RUNS/chapala-1/steps/host-1 DW_JOB_STRIPED chapala-1-0a1b2c3d

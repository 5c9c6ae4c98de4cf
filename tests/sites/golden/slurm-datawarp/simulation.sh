#!/bin/bash
#DW persistentdw name=bl_chapala_1_0a1b2c3d
#SBATCH --job-name=chapala-1-0a1b2c3d-attempt-1
#SBATCH --comment=chapala-1
#SBATCH --nodes=40
#SBATCH --ntasks-per-node=32
#SBATCH --time=120
#SBATCH --output=RUNS/chapala-1/attempts/1/supervisor.log
#SBATCH --open-mode=append
#SBATCH --no-requeue
#SBATCH --signal=B:TERM@60
exec VENV/bin/python -P BURSTLENS/supervisor.py RUNS/chapala-1/attempts/1

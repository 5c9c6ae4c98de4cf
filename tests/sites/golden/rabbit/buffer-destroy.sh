#!/bin/bash
#DW destroy_persistent name=bl_chapala_1_0a1b2c3d
#SBATCH --job-name=chapala-1-0a1b2c3d-buffer-destroy-1
#SBATCH --comment=chapala-1
#SBATCH --nodes=1
#SBATCH --ntasks-per-node=1
#SBATCH --time=5
#SBATCH --output=RUNS/chapala-1/steps/buffer-destroy-1/said.log
#SBATCH --open-mode=append
#SBATCH --no-requeue
#SBATCH --signal=B:TERM@60
exec true

#!/bin/bash

#SBATCH --job-name=chapala-1-0a1b2c3d-parsl-parsl.BLOCK
#SBATCH --output=RUNS/chapala-1/parsl/chapala-1-0a1b2c3d-parsl-parsl.BLOCK.stdout
#SBATCH --error=RUNS/chapala-1/parsl/chapala-1-0a1b2c3d-parsl-parsl.BLOCK.stderr
#SBATCH --nodes=1
#SBATCH --time=120
#SBATCH --ntasks-per-node=1
#DW persistentdw name=bl_chapala_1_0a1b2c3d
#SBATCH --comment=chapala-1
#SBATCH --no-requeue
#SBATCH --cpus-per-task=2

#SBATCH --dependency=after:6


export PATH=VENV/bin:$PATH
export BURSTLENS_BLOCK=RUNS/chapala-1/parsl
export BURSTLENS_RUN_DIR=RUNS/chapala-1 BURSTLENS_LOG=info
export MALLOC_MMAP_THRESHOLD_=33554432 MALLOC_TRIM_THRESHOLD_=134217728
export HDF5_USE_FILE_LOCKING=FALSE MPLBACKEND=Agg OMP_NUM_THREADS=1
cpus=${SLURM_CPUS_ON_NODE:-$(nproc)}
export PARSL_CORES=$((cpus < 4 ? 2 : cpus / 2 + 1))
export BURSTLENS_CORES=$((cpus < 4 ? cpus : 2))



export JOBNAME="chapala-1-0a1b2c3d-parsl-parsl.BLOCK"

process_worker_pool.py

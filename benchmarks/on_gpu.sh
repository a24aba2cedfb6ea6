#!/usr/bin/env bash
# Time the kernels and prove six challenges on a GPU machine, in at most 15 minutes:
#
#     benchmarks/on_gpu.sh DIR [WHEELS]
#
# The machine needs no network; its installed torch and Triton are used, whatever constraints.txt pins.
# Other missing packages are installed from WHEELS (default: benchmarks/wheels), a folder of wheels:
#     pip download --only-binary :all: -d benchmarks/wheels --no-deps fsrs pydantic pydantic_core ...
# Every step writes to DIR at once, so an interrupted run keeps its results. DIR/summary.txt has a line for each step
# and each problem.
set -uo pipefail

if [ $# -lt 1 ]; then
  echo "usage: benchmarks/on_gpu.sh DIR [WHEELS]" >&2
  exit 2
fi
mkdir -p "$1" || exit 3
OUT=$(cd "$1" && pwd)
ROOT=$(cd "$(dirname "$0")/.." && pwd)
WHEELS=${2:-$ROOT/benchmarks/wheels}
PYTHON=${PYTHON:-python3}
SUMMARY=$OUT/summary.txt
: > "$SUMMARY"

say() { echo "$*" | tee -a "$SUMMARY"; }

# step NAME SECONDS COMMAND...: write its output to DIR/NAME.txt and its result to the summary.
step() {
  local name=$1 seconds=$2 began=$SECONDS code
  shift 2
  timeout --kill-after=10 "$seconds" "$@" > "$OUT/$name.txt" 2>&1
  code=$?
  case $code in
    0) say "done     $name ($((SECONDS - began)) s)" ;;
    124 | 137) say "cut off  $name after $seconds s; DIR/$name.txt has what it printed" ;;
    *) say "exit $code   $name: $(grep -v '^ *$' "$OUT/$name.txt" | tail -n 1 | cut -c1-200)" ;;
  esac
  return $code
}

has() { "$PYTHON" -c "import $1" > /dev/null 2>&1; }

cd "$ROOT" || exit 3
if ! has torch; then
  say "missing  torch: $PYTHON cannot import it; name another interpreter with PYTHON=..."
  exit 3
fi

# 1. Install attn's missing packages into a folder beside the results, so the machine stays unchanged.
NEEDED="aiohttp click fsrs genanki hypothesis jinja2 latex2mathml markdown_it mdit_py_plugins nh3 platformdirs pydantic
yaml rich texicode textual tomlkit tree_sitter tree_sitter_python"
MISSING=""
for module in $NEEDED; do has "$module" || MISSING="$MISSING $module"; done
if [ -n "$MISSING" ] && compgen -G "$WHEELS/*.whl" > /dev/null; then
  step wheels 120 "$PYTHON" -m pip install --quiet --no-index --no-deps --target "$OUT/site" "$WHEELS"/*.whl
  export PYTHONPATH="$OUT/site${PYTHONPATH:+:$PYTHONPATH}"
  STILL=""
  for module in $MISSING; do has "$module" || STILL="$STILL $module"; done
  MISSING=$STILL
fi
export PYTHONPATH="$ROOT${PYTHONPATH:+:$PYTHONPATH}"
[ -n "$MISSING" ] && say "missing  for attn:$MISSING; put their wheels into $WHEELS"
has triton || say "missing  triton: no kernel can be compiled"

# 2. Load cuBLAS and cuDNN into the page cache, so that no later step waits for the disk.
if step warm_up 120 "$PYTHON" -c "
import torch
x = torch.ones(2, 2, device='cuda')
print(torch.cuda.get_device_name(), float((x @ x).sum()))
torch.nn.functional.scaled_dot_product_attention(*[torch.ones(1, 1, 16, 64, device='cuda', dtype=torch.bfloat16)] * 3)
torch.cuda.synchronize()"; then
  GPU=yes
else
  GPU=
  say "no GPU   nothing is timed; kernels are checked in the interpreter, and challenges are not proved on a device"
fi

# 3. Time the kernels, with a deadline of six minutes; each row is written at once.
if [ -n "$GPU" ]; then
  step gpu 420 "$PYTHON" -u benchmarks/gpu.py --minutes 6 --out "$OUT/kernels"
else
  step gpu_small 420 "$PYTHON" -u benchmarks/gpu.py --small --minutes 6 --out "$OUT/kernels"
fi

# 4. Run attn's doctor, two gradings check by check, and the proofs of six challenges.
export ATTN_HOME="$OUT/home"
step doctor 60 "$PYTHON" -m attncli doctor
step grading 90 "$PYTHON" -u benchmarks/gpu_grading.py rms-norm vector-add
step verify 180 "$PYTHON" -u -m attncli verify rms-norm sdpa flash-attention linear-cross-entropy vector-add \
  softmax-kernel --device cuda
rm -rf "$ATTN_HOME" "$OUT/site"
say "finished in $SECONDS s"

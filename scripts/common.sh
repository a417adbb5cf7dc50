# shellcheck shell=bash
# Sourced by the other scripts: what they share.
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 1
export PATH=$PATH:/usr/local/cuda/bin

# Where ccache is installed, what was compiled once is not compiled again, in another clone neither.
if command -v ccache >/dev/null; then
  export CMAKE_CXX_COMPILER_LAUNCHER=ccache CCACHE_BASEDIR=$PWD CCACHE_NOHASHDIR=1
  # A precompiled header knows its files by their contents: one of another comment is another one.
  export CCACHE_COMMENTS=1
  export CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime
fi

say() { printf '== %s\n' "$*"; }

# Installs Debian packages that are missing; without the right to, says how and stops.
need_packages() {
  local missing=() p
  for p in "$@"; do
    dpkg-query -W -f '${Status}' "$p" 2>/dev/null | grep -q '^install ok installed' || missing+=("$p")
  done
  [ ${#missing[@]} -eq 0 ] && return
  local as=()
  if [ "$(id -u)" -ne 0 ]; then
    as=(sudo)
    [ -t 0 ] || as=(sudo -n)
    if ! command -v sudo >/dev/null || ! "${as[@]}" true; then
      printf 'Packages are missing, and this user may not install them. Please run\n\n' >&2
      printf '  apt-get update && apt-get install -y --no-install-recommends %s\n\n' "${missing[*]}" >&2
      exit 1
    fi
  fi
  say "installing ${missing[*]}"
  "${as[@]}" apt-get update -qq || say "apt-get update failed; trying with the lists at hand"
  "${as[@]}" env DEBIAN_FRONTEND=noninteractive \
    apt-get install -y -qq --no-install-recommends "${missing[@]}" </dev/null >/dev/null || exit 1
}

# The SIMD flags for programs that run on this very machine: the best set that it has of three.
simd_flags() {
  local cpu
  cpu=" $(grep -m1 '^flags' /proc/cpuinfo) "
  has() { for f; do [[ $cpu == *" $f "* ]] || return 1; done; }
  if has avx512f avx512bw avx512cd avx512dq avx512vl avx512ifma avx512vbmi avx512_vbmi2 \
      avx512_vnni avx512_bitalg avx512_vpopcntdq gfni vaes vpclmulqdq sha_ni adx rdpid clwb \
      bmi1 bmi2 fma f16c aes pclmulqdq; then
    echo "-march=icelake-server"
  elif has avx2 bmi1 bmi2 fma f16c movbe aes pclmulqdq; then
    echo "-march=haswell -maes -mpclmul"
  fi
}

gpu_answers() { nvidia-smi -L 2>/dev/null | grep -q '^GPU 0'; }

# Shared by the scripts of this folder: builds the project for one Flink release and runs a class of it.
#
# FLINK_LAB_BUILD      where the build output goes, one folder per release (default /tmp/ckpt-flink-lab)
# FLINK_LAB_EXTRA_JARS further jars for the class path
# FLINK_LAB_JAVA_OPTS  options for the JVM (default -Xmx2g)
# FLINK_LAB_LOG        log level of Flink: off (default), error, warn, info
# FLINK_LAB_S3_ENDPOINT the object store behind s3:// paths, set by the script with-s3
# FLINK_LAB_S3_PLUGIN  hadoop (default) or presto
# FLINK_LAB_PRIVATE    if set, the run sees an empty /tmp/flink of its own (Linux, root): corpus cases
#                      belong under /tmp/flink, and two runs that put them there disturb each other

lab_home=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
lab_build_root=${FLINK_LAB_BUILD:-/tmp/ckpt-flink-lab}

# build VERSION: compiles if a source file is newer than the last build. Of several at the same time one compiles.
build() {
  mkdir -p "$lab_build_root/$1" || return 2
  (
    ! command -v flock >/dev/null || flock 9
    compile "$1"
  ) 9>"$lab_build_root/$1/lock"
}

compile() {
  local version=$1 out=$lab_build_root/$1
  if [ -f "$out/built" ] && [ -z "$(find "$lab_home/src" "$lab_home/pom.xml" -newer "$out/built" -print -quit)" ]; then
    return
  fi
  # Some modules cannot be had for some releases; the cases that need them are then left out.
  local profiles=flink${version%%.*}
  case $version in
    1.1[5-7].*) ;;
    *) profiles=$profiles,dstl ;;
  esac
  case $version in
    2.0.0 | 2.2.0 | 2.3.0) profiles=$profiles,forst ;;
  esac
  case $version in
    1.20.0) profiles=$profiles,extra,kafka1 ;;
    2.3.0) profiles=$profiles,extra,state ;;
  esac
  mvn -q -B -f "$lab_home/pom.xml" -P"$profiles" -Dflink.version="$version" -DbuildDirectory="$out" \
    compile >&2 && touch "$out/built"
}

# run VERSION CLASS ARGS...: runs a main class with the jars of that release.
run() {
  local version=$1
  shift
  build "$version" || return 2
  run_java "$lab_build_root/$version" "$@"
}

# run_java BUILD_DIRECTORY CLASS ARGS...: the working files of Flink go to a temporary folder, removed at the end.
run_java() {
  local out=$1 class=$2 temporary status
  shift 2
  local wrapper=()
  if [ -n "${FLINK_LAB_PRIVATE:-}" ]; then
    mkdir -p /tmp/flink || return 2
    wrapper=(unshare --mount bash -c 'mount -t tmpfs tmpfs /tmp/flink && exec "$@"' run)
  fi
  local s3=
  if [ -n "${FLINK_LAB_S3_ENDPOINT:-}" ]; then
    s3=$(s3_jar "$out") || return 2
  fi
  temporary=$(mktemp -d -t flink-lab-tmp.XXXXXX)
  # Flink before 1.19 on Java 17 needs these packages opened.
  "${wrapper[@]}" java ${FLINK_LAB_JAVA_OPTS:--Xmx2g} -XX:+UseSerialGC \
    -Djava.io.tmpdir="$temporary" \
    -Dorg.slf4j.simpleLogger.defaultLogLevel="${FLINK_LAB_LOG:-off}" \
    --add-opens=java.base/java.lang=ALL-UNNAMED \
    --add-opens=java.base/java.net=ALL-UNNAMED \
    --add-opens=java.base/java.io=ALL-UNNAMED \
    --add-opens=java.base/java.nio=ALL-UNNAMED \
    --add-opens=java.base/java.util=ALL-UNNAMED \
    --add-opens=java.base/java.util.concurrent=ALL-UNNAMED \
    --add-opens=java.base/java.time=ALL-UNNAMED \
    -cp "$out/classes:$(cat "$out/classpath.txt"):${FLINK_LAB_EXTRA_JARS:-}:$s3" "$class" "$@"
  status=$?
  rm -rf "$temporary"
  return $status
}

# s3_jar BUILD_DIRECTORY: prints the path of the jar with the s3:// file system, fetched once.
s3_jar() {
  local version=${1##*/} plugin=flink-s3-fs-${FLINK_LAB_S3_PLUGIN:-hadoop}
  if [ ! -f "$1/s3/$plugin-$version.jar" ]; then
    mvn -q -B dependency:copy -Dartifact="org.apache.flink:$plugin:$version" -DoutputDirectory="$1/s3" >&2
  fi
  echo "$1/s3/$plugin-$version.jar"
}

# Splits "--flink VERSION" off the arguments: sets $flink and the array $rest.
split_flink_option() {
  flink=2.3.0
  rest=()
  while [ $# -gt 0 ]; do
    if [ "$1" = --flink ]; then
      flink=$2
      shift 2
    else
      rest+=("$1")
      shift
    fi
  done
}

const inheritedVariables = [
  ...["PATH", "HOME", "TMPDIR", "TZ", "LANG"],
  // `npm test` sets these so that programs start and run with less processor time (scripts/test.mjs, scripts/test-run.mjs).
  ...["BUN_RUNTIME_TRANSPILER_CACHE_PATH", "NODE_COMPILE_CACHE", "BUN_JSC_useFTLJIT"],
  ...["BUN_JSC_thresholdForOptimizeAfterWarmUp"],
];

/** The variables that every process inherits, without others that may be set here, such as provider keys. */
export function bareEnvironment(): Record<string, string> {
  return {
    ...Object.fromEntries(
      inheritedVariables.flatMap((name) => (process.env[name] === undefined ? [] : [[name, process.env[name]]])),
    ),
  };
}

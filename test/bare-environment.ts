const kept = [
  ...["PATH", "HOME", "TMPDIR", "TZ", "LANG"],
  // What `npm test` sets so that programs start and run with less processor time (scripts/test.mjs, scripts/test-run.mjs).
  ...["BUN_RUNTIME_TRANSPILER_CACHE_PATH", "NODE_COMPILE_CACHE", "BUN_JSC_useFTLJIT"],
  ...["BUN_JSC_thresholdForOptimizeAfterWarmUp"],
];

/**
 * What a machine gives every process, and nothing else: no provider keys of whoever runs the tests.
 */
export function bareEnvironment(): Record<string, string> {
  return {
    ...Object.fromEntries(kept.flatMap((name) => (process.env[name] === undefined ? [] : [[name, process.env[name]]]))),
  };
}

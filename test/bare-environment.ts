const kept = ["PATH", "HOME", "TMPDIR", "TZ", "LANG", "BUN_RUNTIME_TRANSPILER_CACHE_PATH", "NODE_COMPILE_CACHE"];

/**
 * What a machine gives every process, and nothing else: no provider keys of whoever runs the tests. TEST_HTTP_SERVER says by
 * which server gateways speak with their callers.
 */
export function bareEnvironment(): Record<string, string> {
  const httpServer = process.env["TEST_HTTP_SERVER"];
  return {
    ...(httpServer === undefined ? {} : { SLUICE_HTTP_SERVER: httpServer }),
    ...Object.fromEntries(kept.flatMap((name) => (process.env[name] === undefined ? [] : [[name, process.env[name]]]))),
  };
}

// Ends with 0 when the gateway of this container answers 200. An image without a shell has no curl.
// healthcheck.mjs [path]: /healthz by default; /readyz says whether it takes calls.
const port = process.env.SLUICE_PORT || "8787";
const host = { "0.0.0.0": "127.0.0.1", "::": "[::1]" }[process.env.SLUICE_HOST] ?? "127.0.0.1";
try {
  const answer = await fetch(`http://${host}:${port}${process.argv[2] ?? "/healthz"}`, {
    signal: AbortSignal.timeout(4_000),
  });
  if (!answer.ok) console.error(`${answer.status} ${(await answer.text()).slice(0, 200)}`);
  process.exit(answer.ok ? 0 : 1);
} catch (thrown) {
  console.error(String(thrown));
  process.exit(1);
}

import type { Script } from "@sluice/simulator";

/** How the vendor behaves for successive orders, in real milliseconds. */
const orderScripts: readonly Script[] = [
  { latency_ms: 20, running_ms: 400 },
  { latency_ms: 60, running_ms: 900 },
  { answer_lost: "cut" },
  { running_ms: 1_500, poll: { status: 500 }, poll_count: 4 },
  { ends: "failed" },
  { latency_ms: 300, running_ms: 2_500 },
  { answer_lost: "silent", running_ms: 800 },
  { status: 429, error_code: "QuotaExceeded" },
  { queued_ms: 300, running_ms: 700, odd_state: "dreaming" },
  { ends: "expired", running_ms: 600 },
  { answer_lost: "reset", latency_ms: 200 },
  { status: 400, error_code: "InputTextSensitiveContentDetected" },
];

export function orderBody(order: number): Readonly<Record<string, unknown>> {
  const script = orderScripts[order % orderScripts.length] ?? {};
  const prompt = `order ${order}: a cat on a roof [[sim ${JSON.stringify(script)}]]`;
  return { prompt, duration: 5, resolution: "720p", ratio: "16:9", execution_expires_after: 3_600 };
}

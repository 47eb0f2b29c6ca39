import { createHmac } from "node:crypto";

const hintKey = "a key of 32 bytes, for this test";
export const hintSecret = `whsec_${btoa(hintKey)}`;

interface SentHint {
  readonly id?: string;
  readonly secret?: string;
  /** Unix milliseconds. */
  readonly at: number;
}

/** The headers and the body of a webhook, as vendors sign it. */
export function signedHint(event: object, { id = "wh_1", secret = hintSecret, at }: SentHint) {
  const body = JSON.stringify(event);
  const timestamp = String(Math.floor(at / 1_000));
  const key = Buffer.from(secret.slice("whsec_".length), "base64");
  const signature = createHmac("sha256", key).update(`${id}.${timestamp}.${body}`).digest("base64");
  const headers = {
    ...{ "content-type": "application/json", "webhook-id": id, "webhook-timestamp": timestamp },
    "webhook-signature": `v1,${signature}`,
  };
  return { headers, body };
}

export const hintOf = (upstreamId: string, type = "batch.completed") => ({
  ...{ object: "event", id: "evt_1", created_at: 1, type },
  data: { id: upstreamId },
});

export function sendHint(url: string, provider: string, { headers, body }: ReturnType<typeof signedHint>) {
  return fetch(`${url}/v1/batch-callbacks/${provider}`, { method: "POST", headers, body });
}

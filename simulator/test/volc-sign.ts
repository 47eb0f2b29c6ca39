import { createHash, createHmac } from "node:crypto";

export interface VolcCall {
  readonly query: string;
  readonly host: string;
  readonly body: string;
  readonly date: string;
  readonly accessKeyId?: string;
  readonly secret?: string;
  /** Signed beside host, x-content-sha256 and x-date. */
  readonly more?: Readonly<Record<string, string>>;
}

/** Headers of a call as a client signs it: written apart from what verifies it. */
export function volcSigned(call: VolcCall): Record<string, string> {
  const { accessKeyId = "AKTESTEXAMPLE", secret = "SecretKeyExample==", date } = call;
  const payload = createHash("sha256").update(call.body).digest("hex");
  const headers = { ...call.more, host: call.host, "x-content-sha256": payload, "x-date": date };
  const names = Object.keys(headers).toSorted();
  const rows = names.map((name) => `${name}:${Reflect.get(headers, name)}`);
  const query = [...new URLSearchParams(call.query)].map((row) => row.map(encodeURIComponent).join("=")).toSorted();
  const canonical = ["POST", "/", query.join("&"), ...rows, "", names.join(";"), payload].join("\n");
  const scope = [date.slice(0, 8), "cn-beijing", "ark", "request"];
  const digest = createHash("sha256").update(canonical).digest("hex");
  const key = scope.reduce((made, part) => createHmac("sha256", made).update(part).digest(), Buffer.from(secret));
  const signature = createHmac("sha256", key)
    .update(["HMAC-SHA256", date, scope.join("/"), digest].join("\n"))
    .digest("hex");
  const authorization = `HMAC-SHA256 Credential=${accessKeyId}/${scope.join("/")}, SignedHeaders=${names.join(";")}, Signature=${signature}`;
  return { ...headers, authorization };
}

/** `20260320T142452Z` of now. */
export function volcDate(now = Date.now()): string {
  return new Date(now).toISOString().replace(/[-:]|\.\d+/g, "");
}

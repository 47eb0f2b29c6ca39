import { createHash, createHmac } from "node:crypto";

export interface VolcCall {
  readonly query: string;
  readonly host: string;
  readonly body: string;
  readonly date: string;
  readonly accessKeyId?: string;
  readonly secret?: string;
  /** Signed in addition to host, x-content-sha256 and x-date. */
  readonly more?: Readonly<Record<string, string>>;
}

/** The headers of a signed call. Written independently of the code that verifies them. */
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
  const key = scope.reduce(
    (previous, part) => createHmac("sha256", previous).update(part).digest(),
    Buffer.from(secret),
  );
  const signature = createHmac("sha256", key)
    .update(["HMAC-SHA256", date, scope.join("/"), digest].join("\n"))
    .digest("hex");
  const authorization = `HMAC-SHA256 Credential=${accessKeyId}/${scope.join("/")}, SignedHeaders=${names.join(";")}, Signature=${signature}`;
  return { ...headers, authorization };
}

/** The time in the form `20260320T142452Z`. */
export function volcDate(now = Date.now()): string {
  return new Date(now).toISOString().replace(/[-:]|\.\d+/g, "");
}

import { describe, expect, test } from "bun:test";
import { Failure } from "./failure.ts";
import { maskSecrets, Redactor } from "./redactor.ts";
import { tokenRules } from "./token-rules.ts";

/** Not in the form of a vendor's key, so it is only found by value. */
const secret = 'K3y/of+the"company=2026~Wm2Xv8Tb4Rn6Pd1L';
const redactor = new Redactor([secret, "tiny"], new Redactor(["another-secret-0123456789"]));
const base64 = (text: string): string => Buffer.from(text).toString("base64");
const escaped = (text: string): string =>
  [...text].map((one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, "0")}`).join("");

describe("a secret is hidden in a text", () => {
  test.each([
    ["whole", secret],
    ["that another redactor knows", "another-secret-0123456789"],
    ["short and whole", "tiny"],
    ["its beginning of 8", secret.slice(0, 8)],
    ["any 12 of it", secret.slice(13, 25)],
    ["in JSON", JSON.stringify(secret).slice(1, -1)],
    ["in JSON in JSON", JSON.stringify(JSON.stringify(escaped(secret))).slice(1, -1)],
    ["escaped letter by letter", escaped(secret)],
    ["with \\/ for /", JSON.stringify(secret).slice(1, -1).replaceAll("/", "\\/")],
    ["URL-encoded", encodeURIComponent(secret)],
    ["URL-encoded character by character", Buffer.from(secret).toString("hex").replace(/../g, "%$&")],
    ["masked in the middle", `****${secret.slice(-4)}`],
    ["in UTF-16", [...secret].join("\0")],
  ])("%s", (_, written) => {
    expect(redactor.text(`The key ${written} is wrong.`)).toMatch(/^The key (?:\\")?\[redacted\](?:\\")? is wrong\.$/);
  });

  test.each(["", "a", "ab", "user:"])("in base64 after %p, keeping the text around it", (before) => {
    const shown = redactor.text(`Basic is ${base64(`${before}${secret}`)}, not ${base64(secret).replaceAll("/", "_")}`);
    expect(shown).toMatch(/^Basic is .{0,9}\[redacted\].{0,3}, not \[redacted\].{0,3}$/);
  });

  test("not where a text only shares a word with it", () => {
    expect(new Redactor(["sk-upstream-of-main"]).text("The upstream-model failed.")).toBe("The upstream-model failed.");
  });

  test("at every occurrence, without changing anything else", () => {
    expect(redactor.text(`${secret}${secret} and ${secret}`)).toBe("[redacted] and [redacted]");
    const plain = '{"error":{"message":"50% of \\u00fc, C:\\\\new … at most 3"}}';
    const bytes = new TextEncoder().encode(plain);
    expect(redactor.bytes(bytes)).toBe(bytes);
  });
});

test("hides secrets in every field of a failure, and changes nothing else", () => {
  const body = new TextEncoder().encode(JSON.stringify({ error: { message: "m", code: secret, param: secret } }));
  const options = { retry: "other", unhealthy: true, status: 429, type: "x", retryAfterMs: 5 } as const;
  const upstream = { status: 400, contentType: `a/b; x=${secret.slice(-12)}`, body };
  const cause = new Error(`caused by ${secret}`, { cause: new Failure("upstream_error", secret) });
  const failure = new Failure("upstream_error", `no ${secret}`, { ...options, param: secret, upstream, cause });
  const safe = redactor.failure(failure);
  expect(safe).toMatchObject({ ...options, code: "upstream_error", message: "no [redacted]", param: "[redacted]" });
  expect(new TextDecoder().decode(safe.upstream?.body)).toBe(
    '{"error":{"message":"m","code":"[redacted]","param":"[redacted]"}}',
  );
  expect(Bun.inspect(safe)).not.toContain(secret.slice(13, 25));
  expect(safe.upstream?.contentType).toBe("a/b; x=[redacted]");
});

test("returns the same failure if it contains no secret", () => {
  const failure = new Failure("upstream_error", "The model is busy.", { cause: new Error("busy") });
  expect(redactor.failure(failure)).toBe(failure);
});

// `SK` and `secret_` begin ordinary names, too, and a token from `eyJ` is recognized by its dots.
const starts = tokenRules.flatMap((rule) => rule.starts).filter((start) => !["SK", "secret_", "eyJ"].includes(start));

test.each(starts)("hides a token that begins with %s, complete or masked in the middle", (start) => {
  for (const rest of ["a1B2c3D4e5F6g7H8i9J0k1L2", "a1B2c3D4****k1L2"]) {
    expect(maskSecrets(`The key ${start}${rest} is wrong.`)).toMatch(/^The key \S*\[redacted\] is wrong\.$/);
  }
});

test("shows names that only begin like a token", () => {
  const text =
    "npm_config_registry_address, hf_model_name_of_the_call, SKIPPED_BY_THE_SETTINGS, secret_name_of_the_key";
  expect(maskSecrets(text)).toBe(text);
});

test.each(["xai-", "SG.", "xoxe."])("reads %s again and again in linear time", (start) => {
  // A quadratic search would take minutes.
  const text = start.repeat(300_000 / start.length);
  expect(maskSecrets(text)).toBe(text);
});

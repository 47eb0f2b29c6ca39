import { Redactor } from "#core/index.ts";
import type { CapturedBody, CapturedRequest } from "#ports/index.ts";
import type { NewRow } from "../database/schema.ts";

const captureHeaderCharactersMax = 4 * 1024;
const captureHeadersMax = 100;

/** How to recognize headers with credentials. */
export interface HeaderRules {
  /** Headers with this name always contain a credential. */
  readonly hidesHeader: (name: string) => boolean;
  /** Whether headers with this name are safe to show. */
  readonly showsHeader: (name: string) => boolean;
}

/** A captured request as a row, with credentials redacted. */
export function captureRow(
  captured: CapturedRequest,
  rules: HeaderRules,
  times: { readonly at: number; readonly expiresAt: number },
  secrets: readonly string[] = secretsIn(captured, rules),
): NewRow<"request_captures"> {
  const redactor = new Redactor(secrets);
  const clean = (text: string): string => redactor.text(text);
  const headers = (all: CapturedRequest["requestHeaders"]): string =>
    JSON.stringify(
      all
        .slice(0, captureHeadersMax)
        .map(([name, value]) => [
          name.slice(0, captureHeaderCharactersMax),
          rules.hidesHeader(name) || !rules.showsHeader(name)
            ? "[redacted]"
            : clean(value).slice(0, captureHeaderCharactersMax),
        ]),
    );
  const body = (one: CapturedBody | null): string | null => (one === null ? null : clean(one.text));
  const { requestId, workspaceId, keyId, requestBody, responseBody } = captured;
  return {
    request_id: requestId,
    workspace_id: workspaceId,
    key_id: keyId,
    at: times.at,
    expires_at: times.expiresAt,
    request_headers: headers(captured.requestHeaders),
    response_headers: headers(captured.responseHeaders),
    request_body: body(requestBody),
    request_bytes: requestBody?.bytes ?? null,
    response_body: body(responseBody),
    response_bytes: responseBody?.bytes ?? null,
    truncated: requestBody?.truncated === true || responseBody?.truncated === true ? 1 : 0,
  };
}

/** Credentials of the accounts, and values of hidden headers. */
export function secretsIn(captured: CapturedRequest, rules: HeaderRules): readonly string[] {
  return [...captured.secrets, ...hiddenValues(captured, rules)];
}

/** A hidden value may be repeated in a body, such as an upstream's message about the key. */
function hiddenValues({ requestHeaders, responseHeaders }: CapturedRequest, rules: HeaderRules): readonly string[] {
  return [...requestHeaders, ...responseHeaders].flatMap(([name, value]) => {
    if (!rules.hidesHeader(name)) return [];
    const parts = value.split(/[\s;,]+/);
    // In `session=…` of a cookie or `Signature=…` of a signed request, the value is the secret.
    const values = parts.map((part) => part.slice(part.indexOf("=") + 1));
    return [...parts, ...values].filter((part) => part.length >= secretCharactersMin);
  });
}

const secretCharactersMin = 8;

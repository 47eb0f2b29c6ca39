import { Redactor } from "#core/index.ts";
import type { CapturedBody, CapturedRequest } from "#ports/index.ts";
import type { NewRow } from "../database/schema.ts";

const captureHeaderCharactersMax = 4 * 1024;
const captureHeadersMax = 100;

/** How credentials are known that show themselves. */
export interface SecretLooks {
  /** A header with this name holds one, whatever is in it. */
  readonly hidesHeader: (name: string) => boolean;
  /** It is known what a header with this name holds, and that it may be looked at. */
  readonly showsHeader: (name: string) => boolean;
}

/** A captured request as it is stored, with every credential taken out. */
export function captureRow(
  captured: CapturedRequest,
  looks: SecretLooks,
  times: { readonly at: number; readonly expiresAt: number },
  secrets: readonly string[] = secretsIn(captured, looks),
): NewRow<"request_captures"> {
  const redactor = new Redactor(secrets);
  const clean = (text: string): string => redactor.text(text);
  const headers = (all: CapturedRequest["requestHeaders"]): string =>
    JSON.stringify(
      all
        .slice(0, captureHeadersMax)
        .map(([name, value]) => [
          name.slice(0, captureHeaderCharactersMax),
          looks.hidesHeader(name) || !looks.showsHeader(name)
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

/** All that is known to be one: what the accounts of its models must not have shown, and what stood in hidden headers. */
export function secretsIn(captured: CapturedRequest, looks: SecretLooks): readonly string[] {
  return [...captured.secrets, ...hiddenValues(captured, looks)];
}

/** What stood in a hidden header may stand in a body as well: an upstream that says which key it refuses. */
function hiddenValues({ requestHeaders, responseHeaders }: CapturedRequest, looks: SecretLooks): readonly string[] {
  return [...requestHeaders, ...responseHeaders].flatMap(([name, value]) => {
    if (!looks.hidesHeader(name)) return [];
    const parts = value.split(/[\s;,]+/);
    // `session=…` of a cookie, `Signature=…` of a signed request: what stands behind the name is the secret.
    const values = parts.map((part) => part.slice(part.indexOf("=") + 1));
    return [...parts, ...values].filter((part) => part.length >= secretCharactersMin);
  });
}

const secretCharactersMin = 8;

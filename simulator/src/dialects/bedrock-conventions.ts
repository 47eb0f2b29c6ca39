import { type Dialect, type Exchange, type HeaderFacts, Refusal } from "../dialect.ts";
import { type DialectEvent, eventStreamFraming, type Framing } from "../framing.ts";
import type { HeaderRow } from "../outlet.ts";
import { pathPart } from "../path-part.ts";
import type { SimulatorRequest } from "../request.ts";
import type { Script } from "../script.ts";
import { checkSignature } from "../sigv4.ts";
import type { TruthRecord } from "../truth.ts";

/** The differences between Bedrock's operations: the paths' methods, and how requests are read and answered. */
interface BedrockOperation {
  readonly id: string;
  readonly methods: "converse" | "invoke";
  read(request: SimulatorRequest, model: string, method: string): BedrockExchange;
}

export type BedrockExchange = Pick<Exchange, "parsed" | "whole" | "events">;

/** A dialect with Bedrock's framing, signatures and errors. `secret` verifies signatures, unless a script sets one. */
export function bedrockDialect({ id, methods, read }: BedrockOperation, secret: string | undefined): Dialect {
  return {
    id,
    matches: ({ method, path }) => method === "POST" && bedrockPath(path)?.method.startsWith(methods) === true,
    read(request) {
      const { model, method } = bedrockPath(request.path) ?? { model: "", method: "" };
      return {
        ...read(request, model, method),
        framing: bedrockFraming,
        ping: null,
        admit: (script, record) => admitBedrock(request, script.aws_secret ?? secret, record),
        errorEvent: bedrockErrorEvent,
      };
    },
    headers: bedrockHeaders,
    error: bedrockError,
  };
}

/** The model of /model/{id}/{method}. Ids may contain colons and, in ARNs, slashes, encoded or not. */
export function bedrockPath(path: string): { readonly model: string; readonly method: string } | null {
  const match = /\/model\/(.+)\/(invoke|invoke-with-response-stream|converse|converse-stream)$/.exec(path);
  if (match?.[1] === undefined || match[2] === undefined) return null;
  return { model: pathPart(match[1]), method: match[2] };
}

/** Requires a signature or an API key. A signature is verified if the secret is known. */
export function admitBedrock(request: SimulatorRequest, secret: string | undefined, record: TruthRecord): void {
  const authorization = request.headers["authorization"] ?? "";
  if (/^bearer\s+\S/i.test(authorization)) return;
  if (!authorization.startsWith("AWS4-HMAC-SHA256")) {
    throw new Refusal(403, "Missing Authentication Token", { code: "MissingAuthenticationTokenException" });
  }
  if (secret === undefined) return;
  const fault = checkSignature(request, secret, Date.now());
  record.signature_verified = fault === null;
  if (fault === null) return;
  throw new Refusal(403, signatureFaults[fault], { code: "InvalidSignatureException" });
}

const signatureFaults = {
  absent: "Missing Authentication Token",
  malformed: "Authorization header requires existence of Credential, SignedHeaders, Signature and a date.",
  expired: "Signature expired.",
  mismatch:
    "The request signature we calculated does not match the signature you provided. Check your AWS Secret Access Key " +
    "and signing method.",
} as const;

export function bedrockHeaders({ requestId, parsed, answer, refusal }: HeaderFacts): HeaderRow[] {
  const rows: HeaderRow[] = [["x-amzn-requestid", requestId]];
  if (refusal !== null) rows.push(["x-amzn-errortype", errorTypeOf(refusal)]);
  else if (parsed?.stream === true) rows.push(["x-amzn-bedrock-content-type", "application/json"]);
  const usage = answer?.usage ?? null;
  if (usage === null) return rows;
  const written = usage.cacheWrite + usage.cacheWrite1h;
  rows.push(
    ["x-amzn-bedrock-invocation-latency", "1"],
    ["x-amzn-bedrock-input-token-count", String(usage.prompt - usage.cached - written)],
    ["x-amzn-bedrock-output-token-count", String(usage.output)],
    ["x-amzn-bedrock-cache-read-input-token-count", String(usage.cached)],
    ["x-amzn-bedrock-cache-write-input-token-count", String(written)],
  );
  return rows;
}

export function bedrockError({ message }: Refusal): string {
  return JSON.stringify({ message });
}

/** An exception frame. */
export function bedrockErrorEvent(): DialectEvent {
  const message = "The system encountered an unexpected error during processing. Try your request again.";
  return { event: "modelStreamErrorException", data: JSON.stringify({ message }), tokens: 0, role: "error" };
}

function bedrockFraming(script: Script): Framing {
  return eventStreamFraming(script.bad_checksum === true ? 2 : null);
}

function errorTypeOf({ status, code }: Refusal): string {
  return code ?? errorTypes[status] ?? (status < 500 ? "ValidationException" : "InternalServerException");
}

const errorTypes: Readonly<Record<number, string>> = {
  401: "UnrecognizedClientException",
  403: "AccessDeniedException",
  404: "ResourceNotFoundException",
  408: "ModelTimeoutException",
  424: "ModelErrorException",
  429: "ThrottlingException",
  503: "ServiceUnavailableException",
};

import { bounds } from "../bounds.ts";
import { type Dialect, type Exchange, Refusal } from "../dialect.ts";
import { type JsonObject, parseObject, stringOf } from "../json-body.ts";
import { jsonExchange } from "../json-exchange.ts";
import type { SimulatorRequest } from "../request.ts";
import type { Script } from "../script.ts";
import { splitMarker } from "../script-source.ts";
import type { TaskStore } from "../task-store.ts";
import type { TruthRecord } from "../truth.ts";
import { checkVolcSignature, type VolcFault } from "../volc-signature.ts";
import type { ArkAccounts } from "./ark-accounts.ts";
import { assetActions } from "./ark-asset-actions.ts";
import type { ArkAssetStore } from "./ark-asset-store.ts";
import type { LivenessSessions } from "./ark-liveness.ts";

export interface ArkAssetOptions {
  readonly accounts: ArkAccounts;
  readonly assets: ArkAssetStore;
  readonly sessions: LivenessSessions;
  readonly taskStore: TaskStore;
  readonly filesUrl: string | null;
}

/** Ark's asset library: POST …/?Action=…&Version=2024-01-01, signed. Presets apply to an action by its name. */
export function arkAssets(parts: ArkAssetOptions): Dialect {
  return {
    id: "ark-assets",
    auxiliary: true,
    matches: ({ method, path, query }) =>
      method === "POST" && path.endsWith("/") && /(?:^|&)Action=/.test(query) && /(?:^|&)Version=/.test(query),
    read: (request) => readAction(request, parts),
    headers: ({ requestId }) => [["x-tt-logid", requestId]],
    error: (refusal, requestId, request) => {
      const code = refusal.code ?? defaultCodes[refusal.status] ?? "InternalError";
      const error = { CodeN: numbers[code] ?? 100_000, Code: code, Message: refusal.message };
      return JSON.stringify({ ResponseMetadata: { ...metadataOf(request, requestId), Error: error } });
    },
  };
}

function readAction(request: SimulatorRequest, parts: ArkAssetOptions): Exchange {
  const { action, version } = calledFor(request);
  const body = parseObject(request.body);
  const nameParts = splitMarker(stringOf(body?.["Name"]));
  return {
    ...jsonExchange({
      model: action,
      script: nameParts.script,
      act(script, record) {
        const account = signerOf(request, parts.accounts, script, record);
        const act = version === "2024-01-01" ? assetActions[action] : undefined;
        if (act === undefined) {
          throw new Refusal(400, `The action ${action} of version ${version} was not found.`, {
            code: "InvalidAction",
          });
        }
        if (body === null) throw new Refusal(400, "The body is not a JSON object.", { code: "InvalidParameter" });
        const project = stringOf(body["ProjectName"]) || "default";
        if (project.length > bounds.clientNameMax) throw new Refusal(400, "ProjectName: it is too long.");
        const base = parts.filesUrl ?? `http://${request.headers["host"] ?? "simulator"}`;
        const Result = act({ ...parts, body: { ...body, Name: nameParts.text }, project, account, script, base });
        // The simulator's request id is not available here; the vendor's consists of a time and a random string, too.
        const requestId = `${new Date().toISOString().replace(/\D/g, "")}${parts.taskStore.uniqueCode(8).toUpperCase()}`;
        return { ResponseMetadata: metadataOf(request, requestId), Result };
      },
    }),
  };
}

function calledFor({ query }: SimulatorRequest): { readonly action: string; readonly version: string } {
  const fields = new URLSearchParams(query);
  return { action: fields.get("Action") ?? "", version: fields.get("Version") ?? "" };
}

/** The access key that signed. Throws Refusal for an invalid signature. */
function signerOf(request: SimulatorRequest, accounts: ArkAccounts, script: Script, record: TruthRecord): string {
  const secretOf = (accessKeyId: string): string | null => script.ark_secret ?? accounts.secretOf(accessKeyId);
  const { fault, accessKeyId } = checkVolcSignature(request, secretOf, Date.now());
  record.signature_verified = fault === null;
  if (fault === null) return accessKeyId;
  const [status, code, message] = faults[fault];
  throw new Refusal(status, message, { code });
}

const faults: Readonly<Record<NonNullable<VolcFault>, readonly [status: number, code: string, message: string]>> = {
  absent: [401, "MissingAuthenticationToken", "The request has no signature."],
  malformed: [400, "InvalidAuthorization", "The Authorization header or X-Date can not be read, or signs too little."],
  "unknown key": [401, "InvalidAccessKey", "The access key does not exist."],
  expired: [400, "InvalidTimestamp", "The signature is expired, or from a time to come."],
  mismatch: [401, "SignatureDoesNotMatch", "The signature is not the one that was computed here."],
};

const defaultCodes: Readonly<Record<number, string>> = {
  400: "InvalidParameter",
  401: "InvalidAccessKey",
  403: "AccessDenied",
  404: "NotFound",
  429: "FlowLimitExceeded",
};

/** The vendor's list is not public; these are known from clients. */
const numbers: Readonly<Record<string, number>> = {
  MissingParameter: 100_003,
  InvalidAuthorization: 100_004,
  InvalidTimestamp: 100_006,
  InvalidAction: 100_008,
  InvalidAccessKey: 100_009,
  SignatureDoesNotMatch: 100_010,
  AccessDenied: 100_013,
  FlowLimitExceeded: 100_018,
};

function metadataOf(request: SimulatorRequest, requestId: string): JsonObject {
  const { action, version } = calledFor(request);
  const region = /Credential=[^/]+\/\d+\/([^/]+)\//.exec(request.headers["authorization"] ?? "")?.[1];
  return { RequestId: requestId, Action: action, Version: version, Service: "ark", Region: region ?? "cn-beijing" };
}

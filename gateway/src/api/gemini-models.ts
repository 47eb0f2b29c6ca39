import { bounds, Failure, type Model } from "#core/index.ts";
import { serves } from "#relay/index.ts";
import { batchEmbedProtocol, generateProtocol } from "./endpoint-protocols.ts";

/** A page of models in Gemini's shape. `after` is a page token of an earlier one. Source: Gemini API reference, models.list. */
export function geminiModels(models: readonly Model[], query: URLSearchParams): object {
  const size = readSize(query.get("pageSize"));
  const after = readToken(query.get("pageToken"));
  const rest = after === null ? models : models.filter(({ name }) => name > after);
  const page = rest.slice(0, size);
  const last = page.at(-1);
  return {
    models: page.map(geminiModel),
    ...(last !== undefined && rest.length > size ? { nextPageToken: tokenOf(last.name) } : {}),
  };
}

/** What Sluice does not know of a model (its version, how much it reads) is left out. */
export function geminiModel(model: Model): object {
  return {
    name: `models/${model.name}`,
    displayName: model.name,
    ...(typeof model.outputTokensMax === "number" ? { outputTokenLimit: model.outputTokensMax } : {}),
    supportedGenerationMethods: methodsOf(model),
  };
}

/** Tokens can be counted wherever something can be generated, if only as an estimate. */
function methodsOf(model: Model): readonly string[] {
  const generates = model.type === "chat" && serves([model], generateProtocol);
  const embeds = model.type === "embedding" && serves([model], batchEmbedProtocol);
  return [
    ...(generates ? ["generateContent"] : []),
    ...(embeds ? ["embedContent", "batchEmbedContents"] : []),
    ...(generates ? ["countTokens"] : []),
  ];
}

function readSize(text: string | null): number {
  if (text === null || text === "" || text === "0") return sizeDefault;
  const size = Number(text);
  if (Number.isSafeInteger(size) && size > 0) return Math.min(size, bounds.geminiPageMax);
  throw new Failure("invalid_request", "pageSize must be a whole number of at least 0.", { param: "pageSize" });
}

/** As the vendor pages. */
const sizeDefault = 50;

/** The name of the last model of a page: what comes and goes between two pages moves no other model. */
function tokenOf(name: string): string {
  return Buffer.from(name).toString("base64url");
}

/** Four bytes for each character of a name, in base64. */
const tokenLettersMax = Math.ceil((bounds.modelNameCharactersMax * 4 * 4) / 3);

function readToken(token: string | null): string | null {
  if (token === null || token === "") return null;
  const name = token.length > tokenLettersMax ? "" : Buffer.from(token, "base64url").toString();
  if (name !== "" && tokenOf(name) === token) return name;
  throw new Failure("invalid_request", "pageToken is none that this list gave out.", { param: "pageToken" });
}

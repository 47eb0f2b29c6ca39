import Ajv2020, { type ValidateFunction } from "ajv/dist/2020.js";
import type {
  Response as Described,
  JsonSchema,
  OpenApiDocument,
  Operation,
  PathItem,
  Reference,
} from "../../contract/src/openapi/types.ts";

/** Standard HTTP headers, which no description lists. */
const ofHttp = new Set([
  "content-type",
  "content-length",
  "content-range",
  "accept-ranges",
  "cache-control",
  "date",
  "etag",
  "content-encoding",
  "last-modified",
  "allow",
  "connection",
  "keep-alive",
  "transfer-encoding",
  "vary",
  "www-authenticate",
  "request-id",
]);

/** Headers of every control plane answer, for browsers. */
const ofBrowsers = new Set([
  "content-security-policy",
  "cross-origin-opener-policy",
  "cross-origin-resource-policy",
  "permissions-policy",
  "referrer-policy",
  "x-content-type-options",
  "x-frame-options",
]);

/** Headers that the gateway adds to an upstream's answer. */
const ofSluice = /^(?:x-sluice|x-request|x-ratelimit|anthropic-ratelimit|retry-after)/;

export type Answerer = "sluice" | "upstream";

/** Compares answers with the API description: status, type, headers and every member, including undescribed ones. */
export class DescribedAnswers {
  readonly #document: OpenApiDocument;
  readonly #ajv = new Ajv2020({ strict: false, validateFormats: false, allErrors: true });
  readonly #validators = new Map<string, ValidateFunction>();
  /** `GET /v1/models 200` for each answer that matched. */
  readonly seen = new Set<string>();

  constructor(document: OpenApiDocument) {
    this.#document = document;
    this.#ajv.addSchema({ $id: "https://sluice.test/", components: closed(document.components) });
    this.#ajv.addSchema({ $id: "https://upstream.test/", components: document.components });
  }

  /**
   * Lists the differences from the description. An upstream's answer may have more than is described. Reads the body.
   */
  async problems(method: string, path: string, answer: Response, by: Answerer = "sluice"): Promise<readonly string[]> {
    const place = `${method} ${path} ${answer.status}`;
    const item: PathItem = this.#document.paths[path] ?? {};
    const operation = item[method.toLowerCase() as keyof PathItem] as Operation | undefined;
    const described = this.#response(operation?.responses[String(answer.status)]);
    const bytes = await answer.bytes();
    if (described === null) return [`${place} is not described: ${new TextDecoder().decode(bytes).slice(0, 300)}`];
    const problems = [
      ...headerProblems(described, answer.headers, by),
      ...this.#bodyProblems(described, answer, bytes, by),
    ];
    if (problems.length === 0) this.seen.add(place);
    return problems.map((problem) => `${place}: ${problem}`);
  }

  #response(found: Described | Reference | undefined): Described | null {
    if (found === undefined) return null;
    if (!("$ref" in found)) return found;
    return this.#document.components.responses[found.$ref.split("/").at(-1) ?? ""] ?? null;
  }

  #bodyProblems(described: Described, answer: Response, bytes: Uint8Array, by: Answerer): readonly string[] {
    const type = answer.headers.get("content-type")?.split(";", 1)[0] ?? null;
    if (described.content === undefined) return bytes.length === 0 ? [] : ["has a body"];
    const media = type === null ? undefined : described.content[type];
    if (media === undefined) return [`is of type ${type}`];
    if (type !== "application/json") return bytes.length === 0 ? ["is empty"] : [];
    const text = new TextDecoder().decode(bytes);
    const validate = this.#validator(media.schema, by);
    if (validate(JSON.parse(text))) return [];
    return [`${this.#ajv.errorsText(validate.errors)} in ${text.slice(0, 1_000)}`];
  }

  #validator(schema: JsonSchema | Reference, by: Answerer): ValidateFunction {
    const key = JSON.stringify(schema).replaceAll('"#/', `"https://${by}.test/#/`);
    const existing = this.#validators.get(key);
    if (existing !== undefined) return existing;
    const made = this.#ajv.compile(JSON.parse(key) as object);
    this.#validators.set(key, made);
    return made;
  }
}

function headerProblems(described: Described, headers: Headers, by: Answerer): readonly string[] {
  const names = Object.keys(described.headers ?? {});
  const sent = [...headers.keys()].filter((name) => by === "sluice" || ofSluice.test(name));
  const unknown = sent.filter((name) => !ofHttp.has(name) && !ofBrowsers.has(name) && !names.includes(name));
  const problems = unknown.map((name) => `the header ${name} is not described`);
  return names.includes("x-request-id") && !headers.has("x-request-id")
    ? [...problems, "has no x-request-id"]
    : problems;
}

/**
 * The same schemas without undescribed members: clients may receive more later, but Sluice must describe what it sends.
 */
function closed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(closed);
  if (typeof value !== "object" || value === null) return value;
  const members = Object.entries(value).map(([name, member]) => [name, closed(member)] as const);
  const schema: Record<string, unknown> = Object.fromEntries(members);
  const names = Object.keys((schema["properties"] ?? {}) as object).filter((name) => name !== "@type");
  if (names.length > 0 && schema["type"] === "object") schema["additionalProperties"] = false;
  return schema;
}

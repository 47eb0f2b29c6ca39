import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { API, type Checker, SymbolFlags, type Type, TypeFlags } from "typescript/unstable/async";

/** The types of requests, answers and events in the vendors' SDKs. */
const roots = `
import type OpenAI from "openai";
import type Anthropic from "@anthropic-ai/sdk";
import type Earlier from "anthropic-sdk-previous";
import type * as Genai from "@google/genai";

export type ChatRequest = OpenAI.ChatCompletionCreateParams;
export type ResponsesRequest = OpenAI.Responses.ResponseCreateParams;
export type MessagesRequest = Anthropic.Beta.Messages.MessageCreateParams;
export type EarlierMessagesRequest = Earlier.Beta.Messages.MessageCreateParams;
export interface GeminiRequest {
  contents: Genai.Content[];
  systemInstruction?: Genai.Content;
  tools?: Genai.Tool[];
  toolConfig?: Genai.ToolConfig;
  safetySettings?: Genai.SafetySetting[];
  cachedContent?: string;
  labels?: Record<string, string>;
  serviceTier?: Genai.ServiceTier;
  generationConfig?: Genai.GenerationConfig;
}

export type ChatAnswer = OpenAI.ChatCompletion;
export type ResponsesAnswer = OpenAI.Responses.Response;
export type MessagesAnswer = Anthropic.Beta.Messages.BetaMessage;
export type GeminiAnswer = Genai.GenerateContentResponse;

export type ChatEvent = OpenAI.ChatCompletionChunk;
export type ResponsesEvent = OpenAI.Responses.ResponseStreamEvent;
export type MessagesEvent = Anthropic.Beta.Messages.BetaRawMessageStreamEvent;
export type InteractionsRequest = Genai.Interactions.CreateModelInteractionParamsNonStreaming;
export type InteractionsAnswer = Omit<Genai.Interactions.Interaction, "output_text" | "output_image" | "output_audio"
  | "output_video" | "continuation_ids" | "sdkHttpResponse">;
export type InteractionsEvent = Genai.Interactions.InteractionSSEEvent;
`;

/** A type, as far as samples need it. Types may be recursive. */
export type Shape =
  | { readonly kind: "scalar"; readonly values: readonly (string | number | boolean)[] }
  | { readonly kind: "string" | "number" | "boolean" | "any" }
  | { readonly kind: "array"; of: Shape }
  | { readonly kind: "union"; of: readonly Shape[] }
  | { readonly kind: "object"; readonly name: string; members: readonly Member[] };

export interface Member {
  readonly name: string;
  readonly optional: boolean;
  readonly of: Shape;
}

export type ShapeOf = Extract<Shape, { kind: "object" }>;

const repository = resolve(import.meta.dir, "../../../..");

const compilerOptions = {
  target: "esnext",
  module: "preserve",
  moduleResolution: "bundler",
  lib: ["esnext", "dom", "dom.asynciterable"],
  types: [],
  strict: true,
  skipLibCheck: true,
  noEmit: true,
};

/** The requests, answers and events of the translated dialects. */
export function readVendorTypes(): Promise<ReadonlyMap<string, Shape>> {
  return readTypes(roots);
}

/** The types that a TypeScript module exports, by name, as the compiler reads them. */
export async function readTypes(source: string): Promise<ReadonlyMap<string, Shape>> {
  const folder = mkdtempSync(join(tmpdir(), "sluice-fields-"));
  const api = new API({ cwd: folder });
  try {
    symlinkSync(join(repository, "node_modules"), join(folder, "node_modules"));
    const config = join(folder, "tsconfig.json");
    writeFileSync(config, JSON.stringify({ compilerOptions, files: ["roots.ts"] }));
    writeFileSync(join(folder, "roots.ts"), source);
    const snapshot = await api.updateSnapshot({ openProject: config });
    const project = snapshot.getProject(config);
    const file = await project?.program.getSourceFile(join(folder, "roots.ts"));
    if (project === undefined || file === undefined) throw new Error("the vendors' types cannot be read");
    const { checker } = project;
    const module = await checker.getSymbolAtLocation(file);
    if (module === undefined) throw new Error("the source is not a module");
    const walk = new TypeWalk(checker);
    const shapes = new Map<string, Shape>();
    for (const symbol of await checker.getExportsOfModule(module)) {
      shapes.set(symbol.name, await walk.shapeOf(await checker.getDeclaredTypeOfSymbol(symbol)));
    }
    return shapes;
  } finally {
    await api.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

const absentFlags = TypeFlags.Undefined | TypeFlags.Null | TypeFlags.Void;

class TypeWalk {
  readonly #checker: Checker;
  readonly #known = new Map<number, Shape>();

  constructor(checker: Checker) {
    this.#checker = checker;
  }

  async shapeOf(type: Type): Promise<Shape> {
    const known = this.#known.get(type.id);
    if (known !== undefined) return known;
    const { flags } = type;
    if (flags & TypeFlags.Boolean) return { kind: "boolean" };
    if (type.isLiteralType()) return { kind: "scalar", values: [plain(type.value)] };
    if (flags & TypeFlags.StringLike) return { kind: "string" };
    if (flags & TypeFlags.NumberLike) return { kind: "number" };
    if (type.isUnionType()) {
      const presentTypes = (await type.getTypes()).filter(({ flags }) => !(flags & absentFlags));
      const [only] = presentTypes;
      return only !== undefined && presentTypes.length === 1 ? this.shapeOf(only) : this.#union(type, presentTypes);
    }
    if (type.isIntersectionType() && (await type.getTypes()).some((one) => (one.flags & TypeFlags.StringLike) !== 0)) {
      return { kind: "string" };
    }
    if (!(flags & (TypeFlags.Object | TypeFlags.Intersection))) return { kind: "any" };
    if (await this.#checker.isArrayType(type)) {
      const shape: Shape = { kind: "array", of: { kind: "any" } };
      this.#known.set(type.id, shape);
      const [of] = type.isTypeReference() ? await this.#checker.getTypeArguments(type) : [];
      if (of !== undefined) shape.of = await this.shapeOf(of);
      return shape;
    }
    return this.#object(type);
  }

  async #union(type: Type, types: readonly Type[]): Promise<Shape> {
    const shape: { kind: "union"; of: readonly Shape[] } = { kind: "union", of: [] };
    this.#known.set(type.id, shape);
    const all: Shape[] = [];
    for (const one of types) all.push(await this.shapeOf(one));
    const values = all.flatMap((one) => (one.kind === "scalar" ? one.values : []));
    const others = all.filter((one) => one.kind !== "scalar");
    const of: Shape[] = values.length === 0 ? others : [{ kind: "scalar", values }, ...others];
    shape.of = of;
    return shape;
  }

  async #object(type: Type): Promise<Shape> {
    const symbol = (await type.getAliasSymbol()) ?? (await type.getSymbol());
    const shape: ShapeOf = { kind: "object", name: symbol?.name ?? "", members: [] };
    this.#known.set(type.id, shape);
    const properties = (await this.#checker.getPropertiesOfType(type)).filter(
      ({ flags }) => (flags & SymbolFlags.Property) !== 0,
    );
    const types = await this.#checker.getTypeOfSymbol(properties);
    const members: Member[] = [];
    for (const [index, property] of properties.entries()) {
      const of = types[index];
      if (of === undefined) continue;
      const optional = (property.flags & SymbolFlags.Optional) !== 0;
      members.push({ name: property.name, optional, of: await this.shapeOf(of) });
    }
    shape.members = members;
    return shape;
  }
}

function plain(value: unknown): string | number | boolean {
  return typeof value === "number" || typeof value === "boolean" ? value : String(value);
}

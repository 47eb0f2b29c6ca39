import type { ProviderKind } from "./kind.ts";
import { anthropic } from "./kinds/anthropic.ts";
import { ark } from "./kinds/ark.ts";
import { demo } from "./kinds/demo.ts";
import { gemini } from "./kinds/gemini.ts";
import { openai } from "./kinds/openai.ts";
import { openaiCompatible } from "./kinds/openai-compatible.ts";

/** Every kind there is. A new one is its file and a line here. */
export const providerKinds: readonly ProviderKind[] = [openai, openaiCompatible, anthropic, gemini, ark, demo];

const byId: ReadonlyMap<string, ProviderKind> = new Map(providerKinds.map((kind) => [kind.id, kind]));

export function providerKind(id: string): ProviderKind | null {
  return byId.get(id) ?? null;
}

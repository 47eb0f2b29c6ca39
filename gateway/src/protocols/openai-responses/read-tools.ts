import type { SearchRequest, ToolChoice, TurnTool } from "#core/index.ts";
import type { Warn } from "../codec.ts";
import { arrayOf, invalid, isObject, type JsonObject, objectOf, textOf } from "../json/value.ts";
import { customTool } from "../openai-chat/custom-tool.ts";
import { defaultSearch, readContextSize, readLocation, stringsIn } from "../turn/search-request.ts";
import { notSupported, quotableName, warnOfUnsentMembers } from "../turn/warnings.ts";
import { isNamespaced, isSearch, joinedName, type NamespacedTool, readSearchTool } from "./tool-kinds.ts";

/** Reads functions and custom tools, also in namespaces. Built-in tools are dropped. */
export function readTools(value: unknown, param: string, warn: Warn): TurnTool[] {
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value)) throw invalid(param, "must be an array");
  return value.flatMap((tool, index) => readTool(tool, `${param}[${index}]`, warn));
}

/** `allowed_tools` becomes a shorter list of tools. */
export function readToolChoice(
  value: unknown,
  tools: readonly TurnTool[],
  warn: Warn,
): { readonly choice: ToolChoice | null; readonly tools: readonly TurnTool[] } {
  if (value === undefined || value === null) return { choice: null, tools };
  if (value === "auto" || value === "none") return { choice: { kind: value }, tools };
  if (value === "required") return { choice: anyTool(tools, warn), tools };
  if (!isObject(value)) throw invalid("tool_choice", "must be a string or an object");
  if (value["type"] === "allowed_tools") {
    const names = new Set(arrayOf(value["tools"]).map((tool) => textOf(objectOf(tool)["name"])));
    const search = arrayOf(value["tools"]).some((tool) => objectOf(tool)["type"] === "tool_search");
    const isAllowed = (tool: TurnTool): boolean =>
      names.has(tool.name) || (isNamespaced(tool) && names.has(tool.ownName)) || (search && isSearch(tool));
    const allowed = tools.filter(isAllowed);
    if (allowed.length < tools.length) warn("allowed_tools was applied by dropping the other tools");
    return { choice: value["mode"] === "required" ? anyTool(allowed, warn) : { kind: "auto" }, tools: allowed };
  }
  const search = value["type"] === "tool_search" ? tools.find(isSearch) : undefined;
  if (search !== undefined) return { choice: { kind: "tool", name: search.name }, tools };
  const name = textOf(value["name"]);
  if ((value["type"] === "function" || value["type"] === "custom") && name !== null) {
    const spaced = tools.find((tool) => isNamespaced(tool) && tool.ownName === name);
    const toolName = tools.some((tool) => tool.name === name) ? name : (spaced?.name ?? name);
    return { choice: { kind: "tool", name: toolName }, tools };
  }
  warn(
    `tool_choice of type ${quotableName(textOf(value["type"]) ?? "")} is not supported by the upstream and was dropped`,
  );
  return { choice: null, tools };
}

function anyTool(tools: readonly TurnTool[], warn: Warn): ToolChoice | null {
  if (tools.length > 0) return { kind: "any" };
  warn("tool_choice was dropped: none of its tools is supported by the upstream");
  return null;
}

function readTool(value: unknown, param: string, warn: Warn): TurnTool[] {
  if (!isObject(value)) throw invalid(param, "must be an object");
  if (value["type"] === "function") return [readFunction(value, param, warn)];
  if (value["type"] === "custom") return [readCustom(value, param, warn)];
  if (value["type"] === "namespace") return readNamespace(value, param, warn);
  if (value["type"] === "tool_search") return readSearch(value, warn);
  // Read by readWebSearch.
  if (isWebSearch(value["type"])) return [];
  warn(notSupported(`the tool type ${quotableName(textOf(value["type"]) ?? "")}`));
  return [];
}

function readFunction(tool: JsonObject, param: string, warn: Warn): TurnTool {
  warnOfUnsentMembers(withoutDeferral(tool, param), functionMembers, "a function", warn);
  const parameters = tool["parameters"];
  return {
    name: nameOf(tool, param),
    description: textOf(tool["description"]),
    parameters: isObject(parameters) && !isEmptySchema(parameters) ? parameters : null,
    // Not strict is the default elsewhere, but not here.
    strict: tool["strict"] === true ? true : null,
    cache: null,
  };
}

function isEmptySchema(schema: JsonObject): boolean {
  const { type, properties } = schema;
  const empty = isObject(properties) && Object.keys(properties).length === 0;
  return type === "object" && empty && Object.keys(schema).length === 2;
}

const functionMembers: ReadonlySet<string> = new Set(["type", "name", "description", "parameters", "strict"]);
const customMembers: ReadonlySet<string> = new Set(["type", "name", "description", "format"]);

/** Tools that were found are no longer deferred. */
function withoutDeferral(tool: JsonObject, param: string): JsonObject {
  return param.startsWith("tools") ? tool : { ...tool, defer_loading: null };
}

function readCustom(tool: JsonObject, param: string, warn: Warn): TurnTool {
  warnOfUnsentMembers(withoutDeferral(tool, param), customMembers, "a custom tool", warn);
  const format = objectOf(tool["format"]);
  const description = textOf(tool["description"]);
  const grammar = format["type"] === "grammar" ? textOf(format["definition"]) : null;
  if (grammar === null) return customTool(nameOf(tool, param), description);
  // Models mostly follow a grammar in the description.
  const rule = `The input must match this grammar (${quotableName(textOf(format["syntax"]) ?? "")}):\n${grammar}`;
  return customTool(nameOf(tool, param), description === null ? rule : `${description}\n\n${rule}`);
}

/** The declared tools are what an upstream would search. */
function readSearch(tool: JsonObject, warn: Warn): TurnTool[] {
  if (tool["execution"] === "client") return [readSearchTool(tool)];
  warn("tool_search is not supported by the upstream: deferred tools were declared at once");
  return [];
}

/** The first tool gets the namespace's description. */
function readNamespace(space: JsonObject, param: string, warn: Warn): NamespacedTool[] {
  const namespace = nameOf(space, param);
  let about = textOf(space["description"]);
  return readTools(space["tools"], `${param}.tools`, warn).map((tool) => {
    const description = [about, tool.description].filter((text) => text !== null && text !== "").join("\n\n");
    about = null;
    return {
      ...tool,
      name: joinedName(namespace, tool.name),
      description: description === "" ? null : description,
      namespace,
      ownName: tool.name,
    };
  });
}

function nameOf(tool: JsonObject, param: string): string {
  const name = textOf(tool["name"]);
  if (name === null || name === "") throw invalid(`${param}.name`, "must be a name");
  return name;
}

/** `web_search`, `web_search_2025_08_26`, and their previews. */
function isWebSearch(type: unknown): boolean {
  return /^web_search(?:_preview)?(?:_\d{4}_\d\d_\d\d)?$/.test(textOf(type) ?? "");
}

export function readWebSearch(tools: unknown, warn: Warn): SearchRequest | null {
  const tool = arrayOf(tools).find((one) => isObject(one) && isWebSearch(one["type"]));
  if (!isObject(tool)) return null;
  warnOfUnsentMembers(tool, searchMembers, "the tool web_search", warn);
  if (tool["external_web_access"] === false) {
    warn(notSupported("external_web_access of the tool web_search"));
  }
  const filters = objectOf(tool["filters"]);
  warnOfUnsentMembers(filters, filterMembers, "the tool web_search", warn);
  return {
    ...defaultSearch,
    allowedDomains: stringsIn(filters["allowed_domains"]),
    blockedDomains: stringsIn(filters["blocked_domains"]),
    location: readLocation(tool["user_location"], "the tool web_search", warn),
    contextSize: readContextSize(tool["search_context_size"]),
  };
}

const searchMembers: ReadonlySet<string> = new Set([
  ...["type", "filters", "user_location", "search_context_size"],
  "external_web_access",
]);
const filterMembers: ReadonlySet<string> = new Set(["allowed_domains", "blocked_domains"]);

import {
  type FieldType,
  type FormFields,
  openAiVideoFields,
  openAiVideoForm,
  type RequestField,
  type RequestFields,
  videoTaskFields,
} from "@sluice/contract/words";
import { bounds, Failure } from "#core/index.ts";
import type { FormContent, FormFile } from "#ports/index.ts";
import { encodeText } from "../json/bytes.ts";
import type { ScanLimits } from "../json/scan.ts";
import { invalid, isObject, type JsonObject } from "../json/value.ts";
import { parseBounded } from "../request/members.ts";

/** Video tasks in OpenAI's dialect. */
export { frameSize, type RemixedVideo, type RenamedMembers, readVideoMembers, videoObject } from "./video-members.ts";

/**
 * Converts a form to the same request as JSON. `metadata[scene]` is a member, `references[]` a list item. Numbers, booleans and objects
 * are parsed by the task's table. Throws Failure invalid_request for ambiguous names.
 */
export function formMembers({ fields, files }: FormContent): JsonObject {
  const root: Branch = new Map();
  for (const { name, value } of fields) setMember(root, name, readField(name, value));
  for (const file of files) {
    if (formFields[file.name]?.file === undefined) throw invalid(file.name, "is not an accepted file");
    setMember(root, file.name, dataUri(file));
  }
  return asObject(root);
}

type Branch = Map<string, unknown>;

function setMember(root: Branch, name: string, value: unknown): void {
  const [whole, first = "", rest = ""] = /^([^[\]]+)((?:\[[^[\]]*\]){0,3})$/.exec(name) ?? [];
  if (whole === undefined) throw invalid(name.slice(0, 64), "is not a valid name: send JSON instead");
  const path = [...rest.matchAll(/\[([^[\]]*)\]/g)].map(([, part = ""]) => part);
  let at = root;
  let key = first;
  for (const part of path) {
    // A new item of a list; nested lists would be ambiguous.
    const inner = at.get(key) ?? new Map<string, unknown>();
    if (!(inner instanceof Map) || (part === "" && path.at(-1) !== part)) throw ambiguousName(name);
    at.set(key, inner);
    at = inner;
    key = part === "" ? `${listMark}${inner.size}` : part;
  }
  if (at.has(key)) throw ambiguousName(name);
  at.set(key, value);
}

/** Cannot occur in a member's name. */
const listMark = "\n";

function asObject(branch: Branch): JsonObject {
  return Object.fromEntries([...branch].map(([name, value]) => [name, toJson(name, value)]));
}

function toJson(name: string, value: unknown): unknown {
  if (!(value instanceof Map)) return value;
  const keys = [...(value as Branch).keys()];
  const listed = keys.filter((key) => key.startsWith(listMark)).length;
  if (listed > 0 && listed < keys.length) throw invalid(name, "is both a list and an object");
  return listed > 0 ? [...(value as Branch).values()] : asObject(value as Branch);
}

function readField(name: string, text: string): unknown {
  if (numbers.has(name) && /^-?\d{1,15}$/.test(text)) return Number(text);
  if (flags.has(name) && (text === "true" || text === "false")) return text === "true";
  return objects.has(name) && /^\s*[[{]/.test(text) ? parsed(name, text) : text;
}

const formFields: FormFields = openAiVideoForm;
const taskFields: RequestFields = { ...videoTaskFields, ...openAiVideoFields };
const numbers = namesOf("integer");
const flags = namesOf("boolean");
const objects = new Set([...namesOf("object"), ...namesOf("array")]);

/** Members that may be a string stay strings, such as `seconds`. */
function namesOf(type: FieldType): ReadonlySet<string> {
  const hasType = ({ type: types = [] }: RequestField) =>
    [types].flat().includes(type) && (type === "object" || !Array.isArray(types));
  return new Set(Object.entries(taskFields).flatMap(([name, field]) => (hasType(field) ? [name] : [])));
}

/** Throws Failure request_too_large beyond the bounds of a task. */
function parsed(name: string, text: string): unknown {
  try {
    // Stray brackets or commas in the text would make it several members.
    const { value, ...more } = parseBounded(encodeText(`{"value":${text}}`), limits);
    if (Object.keys(more).length === 0 && (isObject(value) || Array.isArray(value))) return value;
  } catch (thrown) {
    if (!(thrown instanceof Failure) || thrown.code !== "invalid_json") throw thrown;
  }
  throw invalid(name, "is not valid JSON");
}

const limits: ScanLimits = { values: bounds.plainValuesMax, members: bounds.plainMembersMax };
function dataUri({ name, mediaType, data }: FormFile): string {
  if (data === "") throw invalid(name, "is an empty file");
  if (mediaType !== null && /^(?:image|video)\/[a-z0-9.+-]+$/.test(mediaType))
    return `data:${mediaType};base64,${data}`;
  throw invalid(name, "must be a picture or video with its content type, such as image/png");
}

function ambiguousName(name: string): Error {
  return invalid(name, "occurs more than once in the form, or is ambiguous");
}

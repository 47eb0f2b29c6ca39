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
import type { ScanLimits } from "../json/scan.ts";
import { invalid, isObject, type JsonObject } from "../json/value.ts";
import { parseBounded } from "../request/members.ts";

/** OpenAI's videos as callers speak them: a second way to ask for a video task, and to be shown one. */
export { frameSize, type RemixedVideo, type RenamedMembers, readVideoMembers, videoObject } from "./video-members.ts";

/**
 * A form as the members that the same request has in JSON. OpenAI's clients write `metadata[scene]` for a member within an
 * object and `references[]` for one of a list. A form knows only text: what a task has as a number, a yes or no, or an object
 * is read as such. Throws Failure invalid_request for what can be read in two ways.
 */
export function formMembers({ fields, files }: FormContent): JsonObject {
  const root: Branch = new Map();
  for (const { name, value } of fields) setMember(root, name, readField(name, value));
  for (const file of files) {
    if (formFields[file.name]?.file === undefined) throw invalid(file.name, "is no file that is taken here");
    setMember(root, file.name, dataUri(file));
  }
  return asObject(root);
}

type Branch = Map<string, unknown>;

function setMember(root: Branch, name: string, value: unknown): void {
  const [whole, first = "", rest = ""] = /^([^[\]]+)((?:\[[^[\]]*\]){0,3})$/.exec(name) ?? [];
  if (whole === undefined) throw invalid(name.slice(0, 64), "is not a name that can be read: send JSON");
  const path = [...rest.matchAll(/\[([^[\]]*)\]/g)].map(([, part = ""]) => part);
  let at = root;
  let key = first;
  for (const part of path) {
    // The place behind the last one of a list; deeper lists could be read in two ways.
    const inner = at.get(key) ?? new Map<string, unknown>();
    if (!(inner instanceof Map) || (part === "" && path.at(-1) !== part)) throw ambiguousName(name);
    at.set(key, inner);
    at = inner;
    key = part === "" ? `${listMark}${inner.size}` : part;
  }
  if (at.has(key)) throw ambiguousName(name);
  at.set(key, value);
}

/** Names of members do not begin with it: it cannot stand in the head of a part. */
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

/** What may stand as text in JSON too stays text: `seconds` is no number. */
function namesOf(type: FieldType): ReadonlySet<string> {
  const hasType = ({ type: types = [] }: RequestField) =>
    [types].flat().includes(type) && (type === "object" || !Array.isArray(types));
  return new Set(Object.entries(taskFields).flatMap(([name, field]) => (hasType(field) ? [name] : [])));
}

/** As few values as a JSON body of a task may hold. Throws Failure request_too_large for more. */
function parsed(name: string, text: string): unknown {
  try {
    // Whole JSON inside is whole JSON itself: only a comma or a bracket that is not its own could make two members of it.
    const { value, ...more } = parseBounded(encoder.encode(`{"value":${text}}`), limits);
    if (Object.keys(more).length === 0 && (isObject(value) || Array.isArray(value))) return value;
  } catch (thrown) {
    if (!(thrown instanceof Failure) || thrown.code !== "invalid_json") throw thrown;
  }
  throw invalid(name, "is neither a text nor JSON");
}

const limits: ScanLimits = { values: bounds.plainValuesMax, members: bounds.plainMembersMax };
const encoder = new TextEncoder();

function dataUri({ name, mediaType, data }: FormFile): string {
  if (data === "") throw invalid(name, "is an empty file");
  if (mediaType !== null && /^(?:image|video)\/[a-z0-9.+-]+$/.test(mediaType))
    return `data:${mediaType};base64,${data}`;
  throw invalid(name, "must be a picture or a video, and say so by its content type, such as image/png");
}

function ambiguousName(name: string): Error {
  return invalid(name, "stands in the form more than once, or can be read in two ways");
}

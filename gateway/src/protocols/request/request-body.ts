import type { RequestFields } from "@sluice/contract/words";
import { BoundedMap } from "#core/index.ts";
import type { RequestFacts } from "../dialect.ts";
import type { Edit } from "../json/bytes.ts";
import { LOWER_N, type LongStrings, OPEN_OBJECT, type Span } from "../json/cursor.ts";
import type { ScanFindings } from "../json/scan.ts";
import type { GovernedNames } from "./governed-names.ts";
import { countMediaByUrl, type MediaByUrl } from "./media.ts";
import {
  bodyNames,
  governedIn,
  MemberChecks,
  readBoolean,
  readCount,
  readLabel,
  readModel,
  scanRequest,
  sizeOf,
} from "./members.ts";
import { mayHoldMedia, type NamedObject, nestedObjects, type ObjectNames, objectNames } from "./named-objects.ts";

/** Reads request bodies of one endpoint. */
export class BodyReader {
  readonly #names: GovernedNames;
  readonly #checks: MemberChecks;
  readonly #objects: ObjectNames | null;

  /** `more`: members to read in addition to the checked ones. */
  constructor(fields: RequestFields, more: readonly string[], objects: ObjectNames | null = null) {
    const checked = Object.keys(fields).filter((name) => fields[name]?.type !== undefined || fields[name]?.required);
    this.#names = bodyNames([...checked, ...more]);
    this.#checks = new MemberChecks(fields);
    this.#objects = objects;
  }

  /** Throws Failure invalid_json, missing_required_parameter or invalid_request. */
  read(bytes: Uint8Array): RequestBody {
    const body = new RequestBody(bytes, this.#names, this.#objects);
    this.#checks.check(bytes, body.members);
    return body;
  }
}

export type OpenFacts = { -readonly [Name in keyof RequestFacts]: RequestFacts[Name] };

/** A checked body and the spans of its governing members. */
export class RequestBody implements ScanFindings {
  readonly bytes: Uint8Array;
  readonly members: ReadonlyMap<string, Span>;
  readonly filter: ScanFindings["filter"];
  classes = 0;
  longStrings: LongStrings | null = null;
  readonly #objects: ObjectNames;

  constructor(bytes: Uint8Array, names: GovernedNames, objects: ObjectNames | null) {
    this.bytes = bytes;
    this.#objects = objects ?? noObjects;
    this.filter = this.#objects.filter;
    this.members = scanRequest(bytes, names, objects === null ? null : this);
  }

  get(name: string): Span | undefined {
    return this.members.get(name);
  }

  /** A member that is present and not null. */
  nonNull(name: string): Span | null {
    const span = this.members.get(name);
    return span === undefined || this.bytes[span.start] === LOWER_N ? null : span;
  }

  isOn(name: string): boolean {
    return readBoolean(this.bytes, this.members.get(name), name);
  }

  count(name: string): number | null {
    return readCount(this.bytes, this.members.get(name));
  }

  label(name: string): string | null {
    return readLabel(this.bytes, this.members.get(name));
  }

  /** Estimated tokens of these members: one for every four bytes. */
  estimate(...names: readonly string[]): number {
    let bytes = 0;
    for (const name of names) bytes += sizeOf(this.members.get(name));
    return Math.ceil(bytes / 4);
  }

  objects(): readonly NamedObject[] {
    return nestedObjects(this.bytes, this.#objects, this);
  }

  get namesMedia(): boolean {
    return mayHoldMedia(this);
  }

  mediaByUrl(): MediaByUrl | undefined {
    return countMediaByUrl(this.bytes, this);
  }

  /** Facts common to all endpoints. */
  facts(inputEstimate: number, model = readModel(this.bytes, this.get("model"))): OpenFacts {
    return {
      model,
      modelSpan: this.get("model") ?? null,
      stream: false,
      wantsUsage: true,
      outputTokensMax: null,
      inputEstimate,
      streamOptionsSpan: null,
      affinity: this.label("user"),
      continues: null,
      storesAs: null,
      governed: governedIn(this.bytes, this.members),
      images: 0,
    };
  }
}

const noObjects = objectNames([], []);

/** Replaces the model's name, or adds it if it is missing. */
export function modelEdit(
  body: Uint8Array,
  { model, modelSpan }: RequestFacts,
  upstreamModel: string,
): readonly Edit[] {
  if (modelSpan !== null) {
    const { start, end } = modelSpan;
    return upstreamModel === model ? [] : [{ start, end, text: quoted(upstreamModel) }];
  }
  const open = body.indexOf(OPEN_OBJECT) + 1;
  return [{ start: open, end: open, text: `"model":${quoted(upstreamModel)},` }];
}

/** The JSON of a model's name; most requests name the same few. */
function quoted(model: string): string {
  const cached = quotedModels.get(model);
  if (cached !== undefined) return cached;
  const text = JSON.stringify(model);
  quotedModels.set(model, text);
  return text;
}

const quotedModelsMax = 1_000;
const quotedModels = new BoundedMap<string, string>(quotedModelsMax);

import { assetFields } from "./asset-fields.ts";
import { modelField, type RequestField, streamField } from "./request-fields.ts";
import { openAiVideoFields } from "./video-fields.ts";

/**
 * The fields of forms that the gateway itself reads, endpoint by endpoint: what a form is checked by while it arrives, and what
 * the API description shows. A field that is not listed goes on as it came.
 */
export interface FormField extends RequestField {
  /** A part that is a file; `several`: it may stand several times, also as a list. */
  readonly file?: "one" | "several";
}
export type FormFields = Readonly<Record<string, FormField>>;

const user = { description: "Keeps the calls of one caller together." } as const satisfies FormField;

/** Of POST /v1/images/edits. */
export const imageEditForm = {
  model: modelField,
  prompt: { type: "string", required: true, minLength: 1 },
  image: { file: "several", description: "Most upstreams ask for it. May stand several times, also as `image[]`." },
  mask: { file: "one", description: "Where the picture is to change." },
  n: {
    type: "string",
    pattern: "^[1-9][0-9]{0,9}$",
    examples: ["2"],
    must: "must be an integer above 0",
    description: "How many pictures.",
  },
  size: { description: "`<width>x<height>`, as the model takes it." },
  stream: streamField,
  user,
} as const satisfies FormFields;

/** Of POST /v1/audio/transcriptions and /v1/audio/translations. */
export const soundForm = {
  model: modelField,
  file: { file: "one", required: true, description: "The sound." },
  prompt: { description: "Words that help with names and with what came before." },
  response_format: { description: "`json`, `text`, `srt`, `verbose_json` or `vtt`: as the upstream takes it." },
  stream: streamField,
  user,
} as const satisfies FormFields;

/** Of POST /v1/assets. */
export const assetForm = {
  file: { file: "one", required: true, description: "Judged by its first bytes, whatever it is called." },
  group_id: { ...assetFields.group_id, description: "Of the platform `local`." },
  platform: {
    type: "string",
    maxLength: 64,
    examples: ["local"],
    description:
      "`local`, which need not be said: to another platform material is given by `url`. An unknown one is a 404.",
  },
  asset_type: {
    type: "string",
    enum: assetFields.asset_type.enum,
    must: assetFields.asset_type.must,
    description: "Need not be said; where it is, the file must be of it.",
  },
  name: { ...assetFields.name, description: "Default: what the file is called, without its ending." },
} as const satisfies FormFields;

/** Of POST /v1/videos: the members of its JSON as text, the first frame as a file. */
export const openAiVideoForm = {
  ...openAiVideoFields,
  input_reference: {
    file: "one",
    description: "The first frame as a file with its content type; as text what it is in JSON.",
  },
} as const satisfies FormFields;

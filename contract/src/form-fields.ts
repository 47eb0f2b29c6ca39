import { assetFields } from "./asset-fields.ts";
import { modelField, type RequestField, streamField } from "./request-fields.ts";
import { openAiVideoFields } from "./video-fields.ts";

/**
 * Form fields that the gateway reads, by endpoint. A form is validated against them while it arrives, and the API description
 * shows them. Other fields are forwarded unchanged.
 */
export interface FormField extends RequestField {
  /** The part is a file. `several`: it may be repeated, also as a list. */
  readonly file?: "one" | "several";
}
export type FormFields = Readonly<Record<string, FormField>>;

const user = {
  description: "Id of the end user. Their calls prefer the same deployment.",
} as const satisfies FormField;

/** POST /v1/images/edits. */
export const imageEditForm = {
  model: modelField,
  prompt: { type: "string", required: true, minLength: 1 },
  image: { file: "several", description: "Required by most upstreams. May be repeated, also as `image[]`." },
  mask: { file: "one", description: "Mask of the area to change." },
  n: {
    type: "string",
    pattern: "^[1-9][0-9]{0,9}$",
    examples: ["2"],
    must: "must be an integer above 0",
    description: "Number of images.",
  },
  size: { description: "`<width>x<height>`, if the model supports it." },
  stream: streamField,
  user,
} as const satisfies FormFields;

/** POST /v1/audio/transcriptions and /v1/audio/translations. */
export const soundForm = {
  model: modelField,
  file: { file: "one", required: true, description: "The audio file." },
  prompt: { description: "Names and terms that occur in the audio, or the preceding text." },
  response_format: { description: "`json`, `text`, `srt`, `verbose_json` or `vtt`, if the upstream supports it." },
  stream: streamField,
  user,
} as const satisfies FormFields;

/** POST /v1/assets. */
export const assetForm = {
  file: { file: "one", required: true, description: "Its type is detected from its first bytes, not from its name." },
  group_id: { ...assetFields.group_id, description: "A group on the platform `local`." },
  platform: {
    type: "string",
    maxLength: 64,
    examples: ["local"],
    description:
      "Default: `local`, the only platform that accepts uploads; use `url` for others. An unknown platform returns 404.",
  },
  asset_type: {
    type: "string",
    enum: assetFields.asset_type.enum,
    must: assetFields.asset_type.must,
    description: "Default: the type of the file. If sent, the file must have this type.",
  },
  name: { ...assetFields.name, description: "Default: the file name without its extension." },
} as const satisfies FormFields;

/** POST /v1/videos: the fields of its JSON body as text, and the first frame as a file. */
export const openAiVideoForm = {
  ...openAiVideoFields,
  input_reference: {
    file: "one",
    description: "The first frame: a file with its content type, or a text as in the JSON body.",
  },
} as const satisfies FormFields;

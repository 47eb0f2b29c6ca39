import { imageEditForm, requestFields } from "@sluice/contract/words";
import type { FormFacts, RequestFacts, Wire } from "../dialect.ts";
import { FormReader, modelFormBytesMax } from "../form/form-reader.ts";
import { OPEN_OBJECT } from "../json/cursor.ts";
import { GovernedNames } from "../request/governed-names.ts";
import { readCount, scanRequest, sizeOf } from "../request/members.ts";
import { objectNames } from "../request/named-objects.ts";
import { BodyReader, modelEdit, type RequestBody } from "../request/request-body.ts";
import { addNamedModel } from "../request/tool-facts.ts";
import { ImagesStreamTap, readImagesReply } from "./reply.ts";

export const imagesWire: Wire = {
  readRequest: readImagesRequest,
  requestEdits: modelEdit,
  readReply: readImagesReply,
  tapStream: () => new ImagesStreamTap(),
};

export { readImageTurn, writeImageAnswer, writeImageEvents, writeImageJson } from "./translate.ts";

export class ImagesFormReader extends FormReader {
  constructor() {
    super(imageEditForm, modelFormBytesMax);
  }

  /** Throws Failure missing_required_parameter or invalid_request. */
  facts(): FormFacts {
    return this.factsWith({
      inputEstimate: promptEstimate(this.sizeOf("prompt")),
      images: Number(this.text("n") || 1),
      mediaByUrl: this.files === 0 ? undefined : { pictures: this.files, others: 0 },
    });
  }
}

const bodies = new BodyReader(
  requestFields.images,
  ["user", "sequential_image_generation", "sequential_image_generation_options", "svg"],
  objectNames(["file_id"], ["file_id"]),
);
const wantedOption = new GovernedNames(["max_images"]);

/** Sources: OpenAI API reference, "Create image" and "Create image edit"; Ark's `sequential_image_generation_options`. */
function readImagesRequest(bytes: Uint8Array): RequestFacts {
  const body = bodies.read(bytes);
  const facts = body.facts(promptEstimate(sizeOf(body.get("prompt")) - 2));
  facts.stream = body.isOn("stream");
  addNamedModel(facts, body, "svg");
  facts.objects = body.objects().map((object) => ({ ...object, isPicture: true as const }));
  facts.mediaByUrl = body.mediaByUrl();
  facts.images = Math.max(1, body.count("n") ?? 1, seriesMax(body));
  return facts;
}

function promptEstimate(bytes: number): number {
  return Math.ceil(bytes / 4);
}

/** Ark's limit for a series of unspecified length. */
const seriesDefault = 15;

function seriesMax(body: RequestBody): number {
  if (body.label("sequential_image_generation") !== "auto") return 1;
  const options = body.get("sequential_image_generation_options");
  if (options === undefined || body.bytes[options.start] !== OPEN_OBJECT) return seriesDefault;
  const inner = body.bytes.subarray(options.start, options.end);
  return readCount(inner, scanRequest(inner, wantedOption).get("max_images")) ?? seriesDefault;
}

import { BaseItem, type ItemPlace, type OutputItem } from "./output-item.ts";

/** A picture inside an answer, as the image generation tool would give it. */
export class ImageItem extends BaseItem implements OutputItem {
  readonly #data: string;
  readonly #format: string;

  constructor(place: ItemPlace, mediaType: string, data: string) {
    super(place);
    this.#data = data;
    this.#format = mediaType.replace(/^image\//, "");
  }

  open(): string {
    return this.added({ type: "image_generation_call", id: this.place.id, status: "in_progress", result: null });
  }

  delta(): string {
    return "";
  }

  endBlock(): string {
    return this.say("response.image_generation_call.completed", "");
  }

  close(): string {
    return this.done(
      JSON.stringify({
        type: "image_generation_call",
        id: this.place.id,
        status: "completed",
        result: this.#data,
        output_format: this.#format,
      }),
    );
  }
}

import type { ImageAnswer, ImageMedia, RequestedImages, Usage } from "#core/index.ts";

/** The pictures of an upstream of another dialect as OpenAI answers them, whole. `createdAt` is Unix seconds. */
export function writeImageAnswer(answer: ImageAnswer, createdAt: number): Uint8Array {
  const format = formatOf(answer.images[0]);
  return encoder.encode(
    JSON.stringify({
      created: createdAt,
      data: answer.images.map(({ data }) => ({
        b64_json: data,
        ...(answer.revisedPrompt === null ? {} : { revised_prompt: answer.revisedPrompt }),
      })),
      ...(format === null ? {} : { output_format: format }),
      ...(answer.usage === null ? {} : { usage: usageOf(answer.usage) }),
    }),
  );
}

/** The same as the events of a stream: each picture's last one. The usage is told once, with the last. */
export function writeImageEvents(
  answer: ImageAnswer,
  createdAt: number,
  kind: "image_generation" | "image_edit",
  asked: RequestedImages,
): Uint8Array {
  const type = `${kind}.completed`;
  const last = answer.images.length - 1;
  const events = answer.images.map((image, index) => {
    const event = {
      type,
      b64_json: image.data,
      created_at: createdAt,
      size: asked.size === null ? "auto" : `${asked.size.width}x${asked.size.height}`,
      quality: asked.quality ?? "auto",
      background: asked.background ?? "auto",
      output_format: formatOf(image) ?? "png",
      usage: usageOf(index === last ? answer.usage : null),
    };
    return `event: ${type}\ndata: ${JSON.stringify(event)}\n\n`;
  });
  return encoder.encode(events.join(""));
}

const encoder = new TextEncoder();

/** As OpenAI names it; null for a format that it has no name for. */
function formatOf(image: ImageMedia | undefined): string | null {
  const format = image?.mediaType.replace(/^image\//, "") ?? "";
  return ["png", "jpeg", "webp"].includes(format) ? format : null;
}

/** Our classes do not overlap; OpenAI's totals hold their details. */
function usageOf(usage: Usage | null) {
  const text = usage === null ? 0 : textInput(usage);
  const imageInput = usage?.imageInput ?? 0;
  const output = usage === null ? 0 : usage.output + usage.audioOutput;
  const imageOutput = usage?.imageOutput ?? 0;
  return {
    input_tokens: text + imageInput,
    input_tokens_details: { text_tokens: text, image_tokens: imageInput },
    output_tokens: output + imageOutput,
    output_tokens_details: { text_tokens: output, image_tokens: imageOutput },
    total_tokens: text + imageInput + output + imageOutput,
  };
}

function textInput(usage: Usage): number {
  return usage.inputUncached + usage.cacheRead + usage.cacheWrite5m + usage.cacheWrite1h + usage.audioInput;
}

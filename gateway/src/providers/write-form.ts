export interface FormField {
  readonly name: string;
  readonly value: string | { readonly fileName: string; readonly contentType: string; readonly bytes: Uint8Array };
}

export interface WrittenForm {
  readonly contentType: string;
  readonly body: Uint8Array;
}

/** A multipart form (RFC 7578). The boundary starts with `mark` and is not in any value. */
export function writeForm(fields: readonly FormField[], mark: string): WrittenForm {
  const values = fields.map(({ value }) =>
    Buffer.from(typeof value === "string" ? encoder.encode(value) : value.bytes),
  );
  let boundary = mark;
  while (values.some((value) => value.includes(boundary))) boundary += "-";
  const parts = fields.flatMap((field, index) => [
    encoder.encode(`--${boundary}\r\n${headOf(field)}\r\n\r\n`),
    values[index] ?? new Uint8Array(0),
    encoder.encode("\r\n"),
  ]);
  return {
    contentType: `multipart/form-data; boundary=${boundary}`,
    body: Buffer.concat([...parts, encoder.encode(`--${boundary}--\r\n`)]),
  };
}

function headOf({ name, value }: FormField): string {
  const head = `content-disposition: form-data; name="${quotable(name)}"`;
  if (typeof value === "string") return head;
  const contentType = /^[\w.+-]+\/[\w.+-]+$/.test(value.contentType) ? value.contentType : "application/octet-stream";
  return `${head}; filename="${quotable(value.fileName)}"\r\ncontent-type: ${contentType}`;
}

/** Percent-encodes names like browsers (WHATWG). */
function quotable(text: string): string {
  return text.replaceAll('"', "%22").replaceAll("\r", "%0D").replaceAll("\n", "%0A");
}

const encoder = new TextEncoder();

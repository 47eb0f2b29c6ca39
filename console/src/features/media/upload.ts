import { problemOf, unreachable } from "../../client/problem.ts";

interface UploadOptions {
  readonly signal: AbortSignal;
  /** Receives the number of bytes sent. */
  readonly onSent: (bytes: number) => void;
}

/**
 * Sends a form and reports upload progress, which `fetch` cannot. Resolves to a successful response; throws a Problem for any other,
 * and the same error as an aborted `fetch` if it is aborted.
 */
export async function upload(path: string, form: FormData, options: UploadOptions): Promise<Response> {
  const response = await answerOf(path, form, options);
  if (!response.ok) throw await problemOf(response);
  return response;
}

function answerOf(path: string, form: FormData, { signal, onSent }: UploadOptions): Promise<Response> {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    const stop = () => request.abort();
    request.upload.onprogress = ({ loaded }) => onSent(loaded);
    request.onload = () => resolve(responseOf(request));
    request.onerror = () => reject(unreachable(new Error("The upload failed.")));
    request.onabort = () => reject(signal.reason);
    request.onloadend = () => signal.removeEventListener("abort", stop);
    request.open("POST", path);
    signal.addEventListener("abort", stop);
    if (signal.aborted) reject(signal.reason);
    else request.send(form);
  });
}

function responseOf(request: XMLHttpRequest): Response {
  const headers = request
    .getAllResponseHeaders()
    .split("\r\n")
    .filter((line) => line.includes(":"))
    .map((line): [string, string] => {
      const colon = line.indexOf(":");
      return [line.slice(0, colon), line.slice(colon + 1).trim()];
    });
  return new Response(request.responseText, { status: request.status, statusText: request.statusText, headers });
}

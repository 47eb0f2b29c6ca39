import { videoKey, videoModel } from "./contenders/sluice-videos.ts";

const headers = { authorization: `Bearer ${videoKey}`, "content-type": "application/json" };

/** Creates `count` tasks with limited concurrency. `script` controls the simulated vendor. Resolves to their ids. */
export async function makeVideos(
  url: string,
  { count, accounts, script }: { readonly count: number; readonly accounts: number; readonly script: object },
): Promise<readonly string[]> {
  const ids: string[] = [];
  let next = 0;
  const caller = async (): Promise<void> => {
    while (next < count) {
      const number = next++;
      const prompt = `order ${number}: a boat on a lake [[sim ${JSON.stringify(script)}]]`;
      const body = JSON.stringify({ model: videoModel(number % accounts), prompt, duration: 5, resolution: "720p" });
      const answer = await fetch(`${url}/v1/video/tasks`, { method: "POST", headers, body });
      if (!answer.ok) throw new Error(`a task was refused: ${answer.status} ${await answer.text()}`);
      ids.push(((await answer.json()) as { readonly id: string }).id);
    }
  };
  await Promise.all(Array.from({ length: callersMax }, caller));
  return ids;
}

const callersMax = 32;

export interface VideoShown {
  readonly id: string;
  readonly status: string;
}

export async function showVideo(url: string, id: string): Promise<VideoShown> {
  return (await (await fetch(`${url}/v1/video/tasks/${id}`, { headers })).json()) as VideoShown;
}

export interface VideoPage {
  readonly data: readonly VideoShown[];
  readonly next: string | null;
}

/** Loads a page of the list. Resolves to it and its latency in milliseconds. */
export async function listVideos(
  url: string,
  query: string,
): Promise<{ readonly page: VideoPage; readonly ms: number }> {
  const startedAt = performance.now();
  const answer = await fetch(`${url}/v1/video/tasks?${query}`, { headers });
  const text = await answer.text();
  const ms = performance.now() - startedAt;
  if (!answer.ok) throw new Error(`a list was refused: ${answer.status} ${text}`);
  return { page: JSON.parse(text), ms };
}

/** Downloads a video. Resolves to its size. */
export async function readVideo(url: string, id: string): Promise<number> {
  let size = 0;
  for await (const piece of await openVideo(url, id)) size += piece.length;
  return size;
}

/** Reads only the first chunk. Resolves to a function that aborts the download. */
export async function beginVideo(url: string, id: string): Promise<() => Promise<void>> {
  const reader = (await openVideo(url, id)).getReader();
  await reader.read();
  return () => reader.cancel();
}

async function openVideo(url: string, id: string): Promise<ReadableStream<Uint8Array>> {
  const answer = await fetch(`${url}/v1/video/tasks/${id}/content`, { headers });
  if (answer.ok && answer.body !== null) return answer.body;
  throw new Error(`a video was refused: ${answer.status} ${await answer.text()}`);
}

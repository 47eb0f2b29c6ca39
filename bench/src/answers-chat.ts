import { callRequest } from "./call-request.ts";
import { RawConnection } from "./raw-connection.ts";

/** Whether a chat completion returns 200 now. */
export async function answersChat(port: number, key: string, headers: readonly string[] = []): Promise<boolean> {
  try {
    const connection = await RawConnection.open(port);
    try {
      return (await connection.exchange(callRequest({ port, key, headers, bodyBytes: 1024 }))).status === 200;
    } finally {
      connection.close();
    }
  } catch {
    return false;
  }
}

/** Why requests went as they did, and what was captured of them. */
export interface ExplainTables {
  request_explanations: ExplanationTable;
  request_captures: CaptureTable;
}

/** Why a request went as it did. `explanation` is JSON. */
interface ExplanationTable {
  request_id: string;
  workspace_id: string;
  at: number;
  explanation: string;
}

/** What was kept of a request because its key said so. Headers are JSON; a body that was not to be kept is null. */
interface CaptureTable {
  request_id: string;
  workspace_id: string;
  key_id: string;
  at: number;
  expires_at: number;
  request_headers: string;
  response_headers: string;
  request_body: string | null;
  request_bytes: number | null;
  response_body: string | null;
  response_bytes: number | null;
  truncated: number;
}

import { type RemarkCode, remarkSentence } from "@sluice/contract/words";
import type { Period } from "./due-times.ts";

/** The data of a report. Stored, so that repeated attempts send the same. */
export interface ReportContent {
  readonly time_zone: string;
  readonly period: Period;
  readonly compared: Period;
  readonly totals: ReportFigures;
  readonly previous: ReportFigures;
  /** The first rows of the view, in its order. */
  readonly rows: readonly ReportRow[];
  /** Number of rows in the view. */
  readonly rows_total: number;
  /** The path and query of the view with this period. */
  readonly page: string;
  /** Name of the attachment; null: none, or it would be too large. */
  readonly file: string | null;
}

/** `requests` null: the report has only costs. */
export interface ReportFigures {
  readonly cost_usd: number;
  readonly requests: number | null;
}

interface ReportRow {
  readonly label: string;
  readonly cost_usd: number;
  readonly previous_cost_usd: number;
}

export type StopReason = Extract<RemarkCode<"alert">, `report_${string}`>;

export function stopSentence(code: StopReason): string {
  return remarkSentence("alert", { code, params: {} });
}

/** `stop`: no later attempt can succeed. */
export type ReportReading =
  | { readonly content: ReportContent; readonly csv: string | null }
  | { readonly stop: StopReason };

/** Stored in place of content in the message that a report stopped. */
export interface StoppedContent {
  readonly stopped: StopReason;
}

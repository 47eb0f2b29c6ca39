/** A server of chat completions: the upstream itself, or a proxy in front of it. */
export interface Contender<Name extends string = string> {
  readonly name: Name;
  readonly port: number;
  readonly key: string;
  /** Header lines that it needs in addition to the key. */
  readonly headers?: readonly string[];
  /** Root of the measured process tree. null for the upstream itself, which is not measured. */
  readonly pid: number | null;
  /** Its log file, which is shown if it fails. null for the upstream. */
  readonly log: string | null;
  stop(): Promise<void>;
}

/** Contenders of every figure. Peers have a separate figure. */
export type LabName = "direct" | "nginx" | "sluice";

export type CloudName = "aws" | "azure" | "google";

/** Proof of the gateway's identity on this machine, limited to what the operator allows providers to use. */
export interface Workload {
  /** An environment variable; null if it is unset or empty. */
  variable(name: string): string | null;
  /** The text of a small file. Throws an Error with the reason, such as "does not exist". */
  readFile(path: string): Promise<string>;
  /** Whether providers may use the identity that this cloud gives the machine. */
  allowsCloud(cloud: CloudName): boolean;
  /** Whether a token of the machine's identity may be sent to this host, in addition to the vendor's own. */
  allowsHost(host: string): boolean;
  /** Whether the operator allows this secret reference. */
  allowsReference(reference: string): boolean;
}

/** Small facts that the processes of an installation leave for each other, by name. */
export interface SharedFacts {
  read(name: string): Promise<string | null>;
  write(name: string, value: string): Promise<void>;
}

const name = "sluice.key";

/** The key lives as long as the tab does: session storage is gone when it closes and shared with no other tab. */
export function keptKey(): string | null {
  return sessionStorage.getItem(name);
}

export function keepKey(key: string): void {
  sessionStorage.setItem(name, key);
}

export function forgetKey(): void {
  sessionStorage.removeItem(name);
}

import type { Page } from "playwright-core";

/** Waits for a notice in the corner and closes it: notices outlive a page, so a later test could take an old one for its own. */
export async function closeNotice(page: Page, text: string): Promise<void> {
  const notice = page.locator(".mantine-Notification-root", { hasText: text });
  await notice.getByRole("button", { name: "Close" }).click();
  await notice.waitFor({ state: "detached" });
}

import { join } from "node:path";
import { defineConfig } from "vitepress";
import { root, sidebar } from "../pages.mjs";

/** Like the anchors that GitHub creates, so that the same links work on both. */
export function anchorOf(heading) {
  return heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, "")
    .replaceAll(" ", "-");
}

export default defineConfig({
  srcDir: "build/pages",
  outDir: join(root, "dist", "site"),
  cacheDir: "build/cache",
  base: process.env.SITE_BASE ?? "/",
  lang: "en",
  title: "Sluice",
  description: "A model gateway: one address and one key in front of every AI provider.",
  cleanUrls: false,
  markdown: {
    anchor: { slugify: anchorOf },
    config(markdown) {
      const fence = markdown.renderer.rules.fence;
      markdown.renderer.rules.fence = (tokens, index, ...rest) =>
        tokens[index].info.trim() === "mermaid"
          ? `<Diagram code="${encodeURIComponent(tokens[index].content)}" />`
          : fence(tokens, index, ...rest);
    },
  },
  vite: { build: { chunkSizeWarningLimit: 4_000 } },
  themeConfig: {
    sidebar,
    outline: [2, 3],
    search: { provider: "local" },
    footer: { message: "Apache-2.0" },
  },
});

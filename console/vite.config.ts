import react from "@vitejs/plugin-react";
import { defineConfig } from "vite";
import { routeLinesPlugin } from "./route-lines-plugin.ts";

/** `npm run dev` here proxies calls to a gateway: the one on its usual port, or the one that SLUICE_GATEWAY names. */
const gateway = process.env["SLUICE_GATEWAY"] ?? "http://127.0.0.1:8787";

export default defineConfig({
  base: "/console/",
  plugins: [react(), routeLinesPlugin()],
  build: {
    target: "es2022",
    // Nothing may be inlined as a data: URL; the pages are served under a policy that refuses it.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
  },
  server: { proxy: { "/v1": gateway, "/api": gateway, "/docs": gateway, "/openapi.json": gateway } },
});

import {
  IconApps,
  IconBrandGolang,
  IconBrandPython,
  IconBrandTypescript,
  IconGitBranch,
  IconTerminal2,
  type TablerIcon,
} from "@tabler/icons-react";
import type { VendorIcon } from "../../components/vendors/icons.ts";
import { t } from "../../language/areas/connect.ts";

/** Programs that can call the gateway. Product names are the same in every language. */
export const tools = [
  { id: "claude-code", title: "Claude Code", logo: "claude-code" },
  { id: "codex", title: "Codex", logo: "codex" },
  { id: "cursor", title: "Cursor", logo: "cursor" },
  { id: "cline", title: "Cline", logo: "cline" },
  { id: "gemini-cli", title: "Gemini CLI", logo: "gemini-cli" },
  { id: "opencode", title: "OpenCode", logo: "opencode" },
  { id: "open-webui", title: "Open WebUI", logo: "open-webui" },
  { id: "python", title: "Python", icon: IconBrandPython },
  { id: "javascript", title: "TypeScript", icon: IconBrandTypescript },
  { id: "go", title: "Go", icon: IconBrandGolang },
  { id: "curl", title: "curl", icon: IconTerminal2 },
  { id: "ci", title: "CI", icon: IconGitBranch },
  { id: "environment", title: t("connect.other"), icon: IconApps },
] as const satisfies readonly Tool[];

export type ToolId = (typeof tools)[number]["id"];

interface Tool {
  readonly id: string;
  readonly title: string;
  readonly logo?: VendorIcon;
  readonly icon?: TablerIcon;
}

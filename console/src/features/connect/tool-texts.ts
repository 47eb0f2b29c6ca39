import { type Snippet, type SnippetOptions, shellQuoted, snippetsFor } from "../../components/snippet-texts.ts";
import { t } from "../../language/areas/connect.ts";
import type { ToolId } from "./tools.ts";

/** What to paste into a tool, or run, so that it calls the gateway. */
export function toolTexts(tool: Exclude<ToolId, "ci">, options: SnippetOptions): Snippet["parts"] {
  const own = ownTexts[tool];
  if (own === undefined) return snippetsFor(options).find(({ id }) => id === tool)?.parts ?? [];
  const { baseUrl, apiKey, model } = options;
  return own({ url: baseUrl.replace(/\/+$/, ""), apiKey, model });
}

interface Call {
  readonly url: string;
  readonly apiKey: string | null;
  readonly model: string;
}

const keyVariable = "SLUICE_API_KEY";
/** In a shell. */
const shellKey = (apiKey: string | null) => (apiKey === null ? `"$${keyVariable}"` : shellQuoted(apiKey));
/** In a form. */
const formKey = (apiKey: string | null) => apiKey ?? t("connect.yourKey");

const ownTexts: Readonly<Partial<Record<ToolId, (call: Call) => Snippet["parts"]>>> = {
  cursor: ({ url, apiKey, model }) => [
    { where: t("connect.cursor.key"), code: formKey(apiKey) },
    { where: t("connect.cursor.url"), code: `${url}/v1` },
    { where: t("connect.cursor.model"), code: model },
  ],
  cline: ({ url, apiKey, model }) => [
    {
      where: t("connect.cline.shell"),
      code: [
        "cline auth --provider openai-compatible \\",
        `  --baseurl ${shellQuoted(`${url}/v1`)} \\`,
        `  --apikey ${shellKey(apiKey)} \\`,
        `  --modelid ${shellQuoted(model)}`,
      ].join("\n"),
    },
    { where: t("connect.cline.url"), code: `${url}/v1` },
    { where: t("connect.cline.key"), code: formKey(apiKey) },
    { where: t("connect.cline.model"), code: model },
  ],
  "gemini-cli": ({ url, apiKey, model }) => [
    {
      where: t("connect.shell"),
      code: [
        `export GOOGLE_GEMINI_BASE_URL=${shellQuoted(url)}`,
        `export GEMINI_API_KEY=${shellKey(apiKey)}`,
        `gemini --model ${shellQuoted(model)}`,
      ].join("\n"),
    },
  ],
  opencode: ({ url, apiKey, model }) => [
    { where: t("connect.opencode"), code: JSON.stringify(opencodeSettings(url, model), null, 2) },
    {
      where: t("connect.shell"),
      code: [...(apiKey === null ? [] : [`export ${keyVariable}=${shellQuoted(apiKey)}`]), "opencode"].join("\n"),
    },
  ],
  "open-webui": ({ url, apiKey }) => [
    {
      where: t("connect.shell"),
      code: [
        "docker run -d -p 3000:8080 --add-host=host.docker.internal:host-gateway \\",
        `  -e OPENAI_API_BASE_URL=${shellQuoted(`${fromContainer(url)}/v1`)} \\`,
        `  -e OPENAI_API_KEY=${shellKey(apiKey)} \\`,
        "  -v open-webui:/app/backend/data \\",
        "  ghcr.io/open-webui/open-webui:main",
      ].join("\n"),
    },
  ],
  go: ({ url, apiKey, model }) => [
    {
      where: t("connect.goSdk"),
      code: [
        "package main",
        "",
        "import (",
        '\t"context"',
        '\t"fmt"',
        ...(apiKey === null ? ['\t"os"'] : []),
        "",
        '\t"github.com/openai/openai-go/v3"',
        '\t"github.com/openai/openai-go/v3/option"',
        ")",
        "",
        "func main() {",
        "\tclient := openai.NewClient(",
        `\t\toption.WithBaseURL(${JSON.stringify(`${url}/v1`)}),`,
        `\t\toption.WithAPIKey(${apiKey === null ? `os.Getenv("${keyVariable}")` : JSON.stringify(apiKey)}),`,
        "\t)",
        "\tanswer, err := client.Chat.Completions.New(context.Background(), openai.ChatCompletionNewParams{",
        `\t\tModel:    ${JSON.stringify(model)},`,
        '\t\tMessages: []openai.ChatCompletionMessageParamUnion{openai.UserMessage("Hello")},',
        "\t})",
        "\tif err != nil {",
        "\t\tpanic(err)",
        "\t}",
        "\tfmt.Println(answer.Choices[0].Message.Content)",
        "}",
      ].join("\n"),
    },
  ],
};

function opencodeSettings(url: string, model: string) {
  const options = { baseURL: `${url}/v1`, apiKey: `{env:${keyVariable}}` };
  const sluice = { npm: "@ai-sdk/openai-compatible", name: "Sluice", options, models: { [model]: {} } };
  return { $schema: "https://opencode.ai/config.json", model: `sluice/${model}`, provider: { sluice } };
}

/** Inside a container, `localhost` is the container itself. */
function fromContainer(url: string): string {
  return url.replace(/^(https?:\/\/)(?:localhost|127\.0\.0\.1)(?=[:/]|$)/, "$1host.docker.internal");
}

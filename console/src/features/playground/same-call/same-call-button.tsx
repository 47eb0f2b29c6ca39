import { Button, Tabs, Text } from "@mantine/core";
import { IconCode } from "@tabler/icons-react";
import { useState } from "react";
import { CodeBlock } from "../../../components/code-block.tsx";
import { Drawer } from "../../../components/drawer.tsx";
import { t } from "../../../language/areas/playground.ts";
import { useSession } from "../../../session/session-context.tsx";
import { type SameCall, type SameCallText, sameCallTexts } from "./same-call.ts";

/** Shows the current call as code. */
export function SameCallButton({ make }: { readonly make: () => SameCall }) {
  const { answer } = useSession();
  const [texts, setTexts] = useState<readonly SameCallText[] | null>(null);
  return (
    <>
      <Button
        variant="subtle"
        size="compact-xs"
        leftSection={<IconCode size={14} aria-hidden />}
        onClick={() => setTexts(sameCallTexts(make(), answer.public_url))}
      >
        {t("playground.code.show")}
      </Button>
      <Drawer opened={texts !== null} onClose={() => setTexts(null)} title={t("playground.code.title")} size="lg">
        {texts !== null && (
          <>
            <Text size="sm" c="dimmed" mb="sm">
              {t("playground.code.help")}
            </Text>
            <Tabs defaultValue="curl" keepMounted={false}>
              <Tabs.List>
                {texts.map(({ id, title }) => (
                  <Tabs.Tab key={id} value={id}>
                    {title}
                  </Tabs.Tab>
                ))}
              </Tabs.List>
              {texts.map(({ id, title, shown, whole }) => (
                <Tabs.Panel key={id} value={id} pt="xs">
                  <CodeBlock code={shown} copy={whole} label={title} />
                </Tabs.Panel>
              ))}
            </Tabs>
          </>
        )}
      </Drawer>
    </>
  );
}

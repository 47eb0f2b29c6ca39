import { AnswerText } from "../playground/chat/answer-text.tsx";
import { guideTexts } from "./guide-texts.ts";
import { type GuideId, guideText } from "./guides.ts";

interface GuideBodyProps {
  readonly guide: GuideId;
  readonly baseUrl: string;
}

/** The documents are in English, whatever the console speaks. */
export default function GuideBody({ guide, baseUrl }: GuideBodyProps) {
  return (
    <div lang="en">
      <AnswerText text={guideText(guideTexts[guide], baseUrl)} />
    </div>
  );
}

import { tooLarge } from "../passed-suite.ts";
import { transcriptionsEndpoint } from "./endpoint.ts";

tooLarge(transcriptionsEndpoint);

import { otherMethods } from "../passed-suite.ts";
import { transcriptionsEndpoint } from "./endpoint.ts";

otherMethods(transcriptionsEndpoint);

import { otherMethods } from "../forwarding-suite.ts";
import { transcriptionsEndpoint } from "./endpoint.ts";

otherMethods(transcriptionsEndpoint);

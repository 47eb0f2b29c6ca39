import { otherMediaTypes } from "../forwarding-suite.ts";
import { transcriptionsEndpoint } from "./endpoint.ts";

otherMediaTypes(transcriptionsEndpoint);

import { otherMediaTypes } from "../forwarding-suite.ts";
import { completionsEndpoint } from "./endpoint.ts";

otherMediaTypes(completionsEndpoint);

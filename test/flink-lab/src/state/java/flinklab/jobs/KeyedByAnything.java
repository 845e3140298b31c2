package flinklab.jobs;

import org.apache.flink.api.common.functions.OpenContext;
import org.apache.flink.api.common.state.ListState;
import org.apache.flink.api.common.state.ListStateDescriptor;
import org.apache.flink.api.common.state.MapState;
import org.apache.flink.api.common.state.MapStateDescriptor;
import org.apache.flink.api.common.state.ValueState;
import org.apache.flink.api.common.state.ValueStateDescriptor;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.streaming.api.functions.KeyedProcessFunction;
import org.apache.flink.util.Collector;

import java.util.Objects;

/** Keeps a value, a list and a map, with names that are not simple, and a timer. */
public class KeyedByAnything<K> extends KeyedProcessFunction<K, Event, Event> {

    private static final long serialVersionUID = 1L;
    private static final long FAR_FUTURE = 4_102_444_800_000L;

    private final String name;
    private transient ValueState<Place> place;
    private transient ListState<String> list;
    private transient MapState<Integer, String> map;
    private transient ValueState<Long> twoLines;
    private transient ValueState<Long> key;

    public KeyedByAnything(String name) {
        this.name = name;
    }

    /** A POJO that can be a key. Its getter makes the private field one of Flink's. */
    public static class Place {
        public String name;
        private long number;

        public Place() {}

        public Place(String name, long number) {
            this.name = name;
            this.number = number;
        }

        public long getNumber() {
            return number;
        }

        public void setNumber(long number) {
            this.number = number;
        }

        @Override
        public boolean equals(Object other) {
            return other instanceof Place && name.equals(((Place) other).name) && number == ((Place) other).number;
        }

        @Override
        public int hashCode() {
            return Objects.hash(name, number);
        }
    }

    @Override
    public void open(OpenContext context) {
        place = getRuntimeContext().getState(new ValueStateDescriptor<>("place.of " + name, Place.class));
        list = getRuntimeContext().getListState(new ListStateDescriptor<>(name + "'s list", Types.STRING));
        map = getRuntimeContext().getMapState(new MapStateDescriptor<>("`map`", Types.INT, Types.STRING));
        twoLines = getRuntimeContext().getState(new ValueStateDescriptor<>("two\nlines", Types.LONG));
        key = getRuntimeContext().getState(new ValueStateDescriptor<>("key", Types.LONG));
    }

    @Override
    public void processElement(Event event, Context context, Collector<Event> out) throws Exception {
        place.update(new Place(event.key, event.index));
        list.add("'" + event.index);
        map.put((int) event.index % 4, "`" + event.key);
        twoLines.update(event.index);
        key.update(-event.index);
        context.timerService().registerProcessingTimeTimer(FAR_FUTURE + event.index);
    }
}

import java.io.BufferedWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeSet;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.rocksdb.BlockBasedTableConfig;
import org.rocksdb.BloomFilter;
import org.rocksdb.Checkpoint;
import org.rocksdb.ChecksumType;
import org.rocksdb.ColumnFamilyDescriptor;
import org.rocksdb.ColumnFamilyHandle;
import org.rocksdb.ColumnFamilyOptions;
import org.rocksdb.CompressionType;
import org.rocksdb.DBOptions;
import org.rocksdb.DataBlockIndexType;
import org.rocksdb.EnvOptions;
import org.rocksdb.FlushOptions;
import org.rocksdb.IndexType;
import org.rocksdb.IngestExternalFileOptions;
import org.rocksdb.Options;
import org.rocksdb.RocksDB;
import org.rocksdb.RocksDBException;
import org.rocksdb.RocksIterator;
import org.rocksdb.Snapshot;
import org.rocksdb.SstFileWriter;
import org.rocksdb.WriteOptions;

/**
 * Lets RocksDB write databases with many different table options, and says what RocksDB itself reads from them. Arguments: a
 * directory, how many keys each database gets, names of the cases that are wanted (all if there are none). Prints the names of
 * the cases that were written.
 *
 * <p>DIRECTORY/CASE/ has the files of a checkpoint of the database as Flink would upload them, and NAME.expected for each
 * column family: a line for each entry, key and value in hexadecimal.
 */
public final class WriteTables {

    private static final HexFormat HEX = HexFormat.of();
    private static final int KEY_GROUPS = 8;

    private record Case(Consumer<ColumnFamilyOptions> family, Consumer<BlockBasedTableConfig> table) {}

    public static void main(String[] args) throws Exception {
        RocksDB.loadLibrary();
        Path root = Paths.get(args[0]);
        int keys = Integer.parseInt(args[1]);
        List<String> wanted = List.of(args).subList(2, args.length);
        for (Map.Entry<String, Case> entry : cases().entrySet()) {
            String name = entry.getKey();
            if (!wanted.isEmpty() && !wanted.contains(name)) continue;
            try {
                write(root.resolve(name), entry.getValue(), keys, name.hashCode());
            } catch (RocksDBException e) {
                System.err.println(name + ": " + e.getMessage());
                deleteAll(root.resolve(name));
                continue;
            }
            System.out.println(name);
        }
    }

    private static Map<String, Case> cases() {
        Map<String, Case> cases = new LinkedHashMap<>();
        for (CompressionType type : CompressionType.values()) {
            if (type == CompressionType.DISABLE_COMPRESSION_OPTION) continue;
            String name = "compression-" + type.name().toLowerCase().replace("_compression", "").replace('_', '-');
            cases.put(name, new Case(f -> f.setCompressionType(type), t -> {}));
        }
        cases.put(
                "compression-dictionary",
                new Case(
                        f -> {
                            f.setCompressionType(CompressionType.ZSTD_COMPRESSION);
                            f.setCompressionOptions(new org.rocksdb.CompressionOptions().setMaxDictBytes(4096));
                        },
                        t -> {}));
        for (ChecksumType type : ChecksumType.values()) {
            cases.put("checksum-" + type.name().toLowerCase(), new Case(f -> {}, t -> t.setChecksumType(type)));
        }
        for (int bytes : new int[] {256, 1024, 16 * 1024, 1024 * 1024}) {
            cases.put("block-" + bytes, new Case(f -> {}, t -> t.setBlockSize(bytes)));
        }
        for (int version = 0; version <= 6; version++) {
            int formatVersion = version;
            cases.put("format-" + version, new Case(f -> {}, t -> t.setFormatVersion(formatVersion)));
            cases.put(
                    "format-" + version + "-lz4-xxh3",
                    new Case(
                            f -> f.setCompressionType(CompressionType.LZ4_COMPRESSION),
                            t -> {
                                t.setFormatVersion(formatVersion);
                                List<ChecksumType> types = List.of(ChecksumType.values());
                                t.setChecksumType(types.get(types.size() - 1));
                            }));
            cases.put(
                    "format-" + version + "-zlib",
                    new Case(
                            f -> f.setCompressionType(CompressionType.ZLIB_COMPRESSION),
                            t -> t.setFormatVersion(formatVersion)));
        }
        for (IndexType type : IndexType.values()) {
            cases.put(
                    "index-" + type.name().toLowerCase(),
                    new Case(
                            f -> f.useFixedLengthPrefixExtractor(3),
                            t -> {
                                t.setIndexType(type);
                                t.setBlockSize(512);
                                t.setMetadataBlockSize(256);
                            }));
        }
        cases.put("index-restarts", new Case(f -> {}, t -> t.setIndexBlockRestartInterval(16).setBlockSize(256)));
        cases.put(
                "filter-partitioned",
                new Case(
                        f -> {},
                        t -> {
                            t.setIndexType(IndexType.kTwoLevelIndexSearch);
                            t.setPartitionFilters(true);
                            t.setFilterPolicy(new BloomFilter(10, false));
                            t.setBlockSize(512);
                            t.setMetadataBlockSize(256);
                        }));
        cases.put("filter-whole", new Case(f -> {}, t -> t.setFilterPolicy(new BloomFilter(10, false))));
        cases.put("delta-off", new Case(f -> {}, t -> t.setUseDeltaEncoding(false)));
        cases.put(
                "aligned",
                new Case(
                        f -> f.setCompressionType(CompressionType.NO_COMPRESSION),
                        t -> t.setBlockAlign(true).setBlockSize(1024)));
        cases.put(
                "hash-index-in-blocks",
                new Case(
                        f -> {},
                        t -> {
                            t.setDataBlockIndexType(DataBlockIndexType.kDataBlockBinaryAndHash);
                            t.setDataBlockHashTableUtilRatio(0.75);
                        }));
        cases.put("restarts", new Case(f -> {}, t -> t.setBlockRestartInterval(1)));
        return cases;
    }

    private static void write(Path out, Case options, int keys, int seed) throws Exception {
        deleteAll(out);
        Path place = Files.createTempDirectory("tables");
        BlockBasedTableConfig table = new BlockBasedTableConfig();
        table.setBlockSize(1024);
        options.table.accept(table);
        ColumnFamilyOptions family = new ColumnFamilyOptions();
        family.setMergeOperatorName("stringappendtest");
        family.setDisableAutoCompactions(true);
        family.setTargetFileSizeBase(Math.max(2048, keys * 20L));
        options.family.accept(family);
        family.setTableFormatConfig(table);
        List<ColumnFamilyHandle> handles = new ArrayList<>();
        List<ColumnFamilyDescriptor> descriptors = new ArrayList<>();
        descriptors.add(new ColumnFamilyDescriptor(RocksDB.DEFAULT_COLUMN_FAMILY));
        for (String name : List.of("values", "lists", "ranges", "dropped", "foreign")) {
            descriptors.add(new ColumnFamilyDescriptor(name.getBytes(StandardCharsets.UTF_8), family));
        }
        DBOptions db = new DBOptions().setCreateIfMissing(true).setCreateMissingColumnFamilies(true);
        try (RocksDB rocks = RocksDB.open(db, place.resolve("db").toString(), descriptors, handles)) {
            new WriteTables(rocks, keys, seed).fill(handles, place, table);
            Files.createDirectories(out.getParent());
            Path checkpoint = place.resolve("checkpoint");
            try (Checkpoint maker = Checkpoint.create(rocks)) {
                maker.createCheckpoint(checkpoint.toString());
            }
            Files.createDirectories(out);
            try (Stream<Path> files = Files.list(checkpoint)) {
                for (Path file : (Iterable<Path>) files::iterator) {
                    String name = file.getFileName().toString();
                    if (name.startsWith("OPTIONS") || name.endsWith(".log")) continue;
                    Files.copy(file, out.resolve(name), StandardCopyOption.REPLACE_EXISTING);
                }
            }
            for (int i = 1; i < handles.size(); i++) {
                String name = new String(descriptors.get(i).getName(), StandardCharsets.UTF_8);
                if (!name.equals("dropped")) dump(rocks, handles.get(i), out.resolve(name + ".expected"));
            }
            for (ColumnFamilyHandle handle : handles) handle.close();
        }
        deleteAll(place);
    }

    private static void dump(RocksDB rocks, ColumnFamilyHandle family, Path file) throws Exception {
        try (BufferedWriter writer = Files.newBufferedWriter(file);
                RocksIterator entries = rocks.newIterator(family)) {
            for (entries.seekToFirst(); entries.isValid(); entries.next()) {
                writer.write(HEX.formatHex(entries.key()) + " " + HEX.formatHex(entries.value()) + "\n");
            }
            entries.status();
        }
    }

    private final RocksDB rocks;
    private final int keys;
    private final Random random;
    private final WriteOptions unlogged = new WriteOptions().setDisableWAL(true);

    private WriteTables(RocksDB rocks, int keys, int seed) {
        this.rocks = rocks;
        this.keys = keys;
        this.random = new Random(seed);
    }

    private void fill(List<ColumnFamilyHandle> handles, Path place, BlockBasedTableConfig table) throws Exception {
        ColumnFamilyHandle values = handles.get(1);
        ColumnFamilyHandle lists = handles.get(2);
        ColumnFamilyHandle ranges = handles.get(3);
        ColumnFamilyHandle dropped = handles.get(4);
        ColumnFamilyHandle foreign = handles.get(5);
        List<Snapshot> snapshots = new ArrayList<>();
        for (int round = 0; round < 5; round++) {
            for (int i = 0; i < keys; i++) {
                putOrDelete(values);
                addOrPut(lists);
                putOrDelete(ranges);
                if (i % Math.max(1, keys / 3) == 0) deleteRange(ranges);
                if (i % Math.max(1, keys / 2) == 0) snapshots.add(rocks.getSnapshot());
            }
            rocks.put(dropped, unlogged, key(), value());
            for (ColumnFamilyHandle family : List.of(values, lists, ranges, dropped)) flush(family);
            if (round == 1) for (ColumnFamilyHandle family : List.of(values, lists, ranges)) rocks.compactRange(family);
            if (round == 3) {
                for (Snapshot snapshot : snapshots) rocks.releaseSnapshot(snapshot);
                snapshots.clear();
                byte[] from = {2};
                byte[] to = {5};
                for (ColumnFamilyHandle family : List.of(values, lists, ranges)) rocks.compactRange(family, from, to);
            }
        }
        rocks.dropColumnFamily(dropped);
        for (Snapshot snapshot : snapshots) rocks.releaseSnapshot(snapshot);
        ingest(foreign, place, table);
    }

    private void putOrDelete(ColumnFamilyHandle family) throws RocksDBException {
        int kind = random.nextInt(10);
        if (kind == 0) rocks.delete(family, unlogged, key());
        else if (kind == 1) deleteOnce(family);
        else rocks.put(family, unlogged, key(), value());
    }

    /** A single deletion is for keys that were put once. */
    private void deleteOnce(ColumnFamilyHandle family) throws RocksDBException {
        byte[] key = ("\u0007once-" + random.nextInt(1_000_000)).getBytes(StandardCharsets.UTF_8);
        rocks.put(family, unlogged, key, value());
        if (random.nextBoolean()) {
            if (random.nextBoolean()) flush(family);
            rocks.singleDelete(family, unlogged, key);
        }
    }

    private void addOrPut(ColumnFamilyHandle family) throws RocksDBException {
        int kind = random.nextInt(12);
        if (kind == 0) rocks.delete(family, unlogged, key());
        else if (kind == 1) rocks.put(family, unlogged, key(), value());
        else rocks.merge(family, unlogged, key(), value());
    }

    private void deleteRange(ColumnFamilyHandle family) throws RocksDBException {
        byte[] one = key();
        byte[] other = key();
        boolean inOrder = java.util.Arrays.compareUnsigned(one, other) <= 0;
        rocks.deleteRange(family, unlogged, inOrder ? one : other, inOrder ? other : one);
    }

    private void flush(ColumnFamilyHandle family) throws RocksDBException {
        try (FlushOptions options = new FlushOptions().setWaitForFlush(true)) {
            rocks.flush(options, family);
        }
    }

    private byte[] key() {
        String text = "key-" + random.nextInt(Math.max(2, keys / 2));
        byte[] bytes = ("\0" + text).getBytes(StandardCharsets.UTF_8);
        bytes[0] = (byte) Math.floorMod(text.hashCode(), KEY_GROUPS);
        return bytes;
    }

    private byte[] value() {
        int kind = random.nextInt(20);
        int length = kind == 0 ? 0 : kind == 1 ? 1000 : random.nextInt(60);
        StringBuilder text = new StringBuilder("value-" + random.nextInt() + "-");
        while (text.length() < length) text.append("abcdefgh");
        return kind == 0 ? new byte[0] : text.toString().getBytes(StandardCharsets.UTF_8);
    }

    /** Tables made outside of the database, taken in on top of what is there. */
    private void ingest(ColumnFamilyHandle family, Path place, BlockBasedTableConfig table) throws Exception {
        for (int i = 0; i < keys; i++) rocks.put(family, unlogged, key(), value());
        flush(family);
        for (boolean isWritten : new boolean[] {false, true}) {
            Path file = place.resolve("foreign-" + isWritten + ".sst");
            try (EnvOptions environment = new EnvOptions();
                    Options options = new Options().setTableFormatConfig(table).useFixedLengthPrefixExtractor(3);
                    SstFileWriter writer = new SstFileWriter(environment, options)) {
                writer.open(file.toString());
                TreeSet<byte[]> chosen = new TreeSet<>(java.util.Arrays::compareUnsigned);
                for (int i = 0; i < keys / 3 + 2; i++) chosen.add(key());
                for (byte[] key : chosen) {
                    if (random.nextInt(4) == 0) writer.delete(key);
                    else writer.put(key, value());
                }
                writer.finish();
            }
            try (IngestExternalFileOptions options = new IngestExternalFileOptions()) {
                options.setWriteGlobalSeqno(isWritten);
                rocks.ingestExternalFile(family, Collections.singletonList(file.toString()), options);
            }
        }
    }

    private static void deleteAll(Path path) throws Exception {
        if (!Files.exists(path)) return;
        try (Stream<Path> files = Files.walk(path)) {
            for (Path file : (Iterable<Path>) files.sorted(Comparator.reverseOrder())::iterator) Files.delete(file);
        }
    }
}
